#include "artifact/verify_artifact.h"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>

#include "artifact/artifact_library.h"
#include "artifact/runtime/model_tables.h"
#include "artifact/weights.h"
#include "base/hash.h"
#include "base/read_file.h"

namespace lathe {
namespace {

Status verify_weights(const std::string& folder, const Manifest& manifest) {
  const std::string path = folder + "/weights.bin";
  LATHE_TRY(std::string bytes, read_regular_file(path));
  LatheWeightsHead head;
  if (bytes.size() < sizeof head || !bytes.starts_with(LATHE_WEIGHTS_MAGIC))
    return fail(ErrorKind::load, "this is not the weights of a model", path);
  std::memcpy(&head, bytes.data(), sizeof head);
  if (hash_to_string(head.build) != *manifest.build) {
    head.name[sizeof head.name - 1] = '\0';
    return fail(
        ErrorKind::load,
        fmt::format("the weights are those of '{}', build {}, and the manifest is that of '{}', build {}",
                    head.name, hash_to_string(head.build), manifest.name, *manifest.build),
        path);
  }
  if (WeightsFile::content_id(std::move(bytes)) == head.id) return {};
  return fail(ErrorKind::load, "the weights are damaged: they do not have the hash that their head names",
              path);
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
  std::error_code ignored;
  const bool has_sources = std::filesystem::exists(folder + "/kernel0.c", ignored);
  // Of C sources the compiler tells what is wrong.
  if (!manifest.library && has_sources) return manifest;
  if (!manifest.library)
    return fail(ErrorKind::load, "the manifest names no library", folder + "/manifest.json");
  LATHE_TRY(const ArtifactLibrary library, ArtifactLibrary::load(folder, manifest));
  return manifest;
}

}  // namespace lathe
