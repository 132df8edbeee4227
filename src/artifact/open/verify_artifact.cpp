#include "artifact/open/verify_artifact.h"

#include <fmt/format.h>

#include <cstring>

#include "artifact/model.h"
#include "artifact/open/artifact_library.h"
#include "artifact/runtime/model_tables.h"
#include "artifact/weights.h"
#include "base/hash.h"
#include "base/read_file.h"

namespace lathe {
namespace {

// All of it that is not the zeros of its end.
std::string head_name(const LatheWeightsHead& head) {
  const std::string name(head.name, sizeof head.name);
  return name.substr(0, name.find_last_not_of('\0') + 1);
}

Status verify_weights(const std::string& folder, const Manifest& manifest) {
  const std::string path = folder + "/weights.bin";
  LATHE_TRY(std::string bytes, read_regular_file(path));
  LatheWeightsHead head;
  if (bytes.size() < sizeof head || !bytes.starts_with(LATHE_WEIGHTS_MAGIC))
    return fail(ErrorKind::load, "this is not the weights of a model", path);
  std::memcpy(&head, bytes.data(), sizeof head);
  if (hash_to_string(head.build) != *manifest.build) {
    return fail(
        ErrorKind::load,
        fmt::format("the weights are those of '{}', build {}, and the manifest is that of '{}', build {}",
                    storable_name(head_name(head)), hash_to_string(head.build), manifest.name,
                    *manifest.build),
        path);
  }
  if (head_name(head) != manifest.name.substr(0, sizeof head.name - 1))
    return fail(ErrorKind::load,
                fmt::format("the weights bear the name '{}', and the manifest '{}'",
                            storable_name(head_name(head)), manifest.name),
                path);
  if (weights_id(std::move(bytes)) == head.id) return {};
  return fail(ErrorKind::load, "the weights are damaged: they do not have the hash that their head names",
              path);
}

// What the library says of itself is asked where this machine can load it.
Status verify_library(const std::string& folder, const Manifest& manifest) {
  if (is_of_this_architecture(manifest)) {
    LATHE_TRY(const ArtifactLibrary library, ArtifactLibrary::load(folder, manifest));
    return {};
  }
  const std::string path = folder + "/model.so";
  LATHE_TRY(const std::string bytes, read_regular_file(path));
  return check_library(bytes, manifest.library, path);
}

}  // namespace

Result<Manifest> verify_artifact(const std::string& folder) {
  LATHE_TRY(Manifest manifest, read_manifest(folder));
  if (!manifest.has_hash || !manifest.build) {
    return fail(ErrorKind::load,
                "the manifest names no hash or no build, by which the artifact could be verified: compile it "
                "again",
                folder + "/manifest.json");
  }
  LATHE_TRY_STATUS(verify_weights(folder, manifest));
  if (!manifest.library && manifest.files.empty()) {
    return fail(ErrorKind::load, "the manifest names neither a library nor sources: compile it again",
                folder + "/manifest.json");
  }
  if (manifest.library) LATHE_TRY_STATUS(verify_library(folder, manifest));
  for (const FileMark& file : manifest.files) {
    const std::string path = folder + "/" + file.name;
    LATHE_TRY(const std::string bytes, read_regular_file(path));
    LATHE_TRY_STATUS(check_file(bytes, file, "file", path));
  }
  return manifest;
}

}  // namespace lathe
