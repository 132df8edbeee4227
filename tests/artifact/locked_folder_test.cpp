// What opens a user's files says of a folder that is shut that it is shut: models, records, artifacts.
#include "base/locked_folder.h"

#include "artifact/open/loaded_artifact.h"
#include "graph/onnx/file.h"
#include "records/record_store.h"

namespace lathe {
namespace {

class OpenInLockedFolder : public LockedFolder {};

TEST_F(OpenInLockedFolder, Model) {
  expect_refused("locked/file", [](const std::string& at) { return read_model_file(at).error(); });
}

TEST_F(OpenInLockedFolder, Records) {
  expect_refused("locked/file", [](const std::string& at) { return RecordStore::open(at).error(); });
  expect_refused("locked/file",
                 [](const std::string& at) { return RecordStore::open_read_only(at).error(); });
}

TEST_F(OpenInLockedFolder, Artifact) {
  expect_refused("locked/artifact",
                 [](const std::string& at) { return LoadedArtifact::open(at, 1).error(); });
}

}  // namespace
}  // namespace lathe
