// From a model to the folder that a user takes away: model.so, model.h, weights.bin, manifest.json. model.so
// needs nothing but the C library; linking it here needs a C++ compiler.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "artifact/model.h"
#include "base/result.h"

namespace lathe {

struct WriteOptions {
  std::string compiler = "c++";  // looked up in the PATH; GCC or Clang
  std::string compiler_version;  // of Lathe, for the manifest
};

// Uses the model up, so that its constants need not be in memory to the end. Makes the folder where it is
// missing and replaces the artifact in it, of whichever form, once all files are
// made. An Error names the file that could not be written, or says that there is no compiler or what it
// printed; the folder's files are then as they were.
Status write_artifact(Model model, const std::string& folder, const WriteOptions& options);

// Adds a key to the manifest of the artifact in the folder: what is known of it only once it runs. A number
// that JSON does not have is null.
Status add_to_manifest(const std::string& folder, const std::string& key,
                       const nlohmann::ordered_json& value);

// The Error, without any model, where write_artifact would find no compiler.
Status check_compiler(const WriteOptions& options);

// An Error where an artifact would take the place of what is somebody else's: files of its names beside no
// manifest of Lathe's, or folders of these names. Whoever writes one asks it again.
Status check_folder(const std::string& folder);

// What an artifact is made of, and the kernels as C that lie in the folder: what writing one there replaces
// or removes.
std::vector<std::string> artifact_file_names(const std::string& folder);

// In place of model.so each kernel as C99 for another compiler: kernel0.c, kernel1.c ..., named as in
// manifest.json, with the weights that they read.
Status write_c_sources(Model model, const std::string& folder, const WriteOptions& options);

}  // namespace lathe
