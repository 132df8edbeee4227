// The text files of an artifact: the tables that its runtime reads (C that a C++ compiler takes too), the
// header for its users, and the manifest. Pure functions.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "artifact/model.h"

namespace lathe {

// Defines lathe_model_tables (artifact/runtime/model_tables.h) and the functions of the C face; refers to the
// kernels' entries.
std::string model_tables_source(const Model& model, uint64_t build);
// model.h: the functions under their names, and what this model's inputs and outputs are.
std::string model_header(const Model& model);
// A linker script of what the library shows: the functions, so that several artifacts live in one process.
std::string model_exports(const Model& model);
// A file and what it holds.
struct ArtifactFile {
  std::string name;
  std::string_view bytes;
};

// manifest.json, docs/artifact_format.md; `build` is the build's id, `library` is what model.so holds, none
// where there are C sources, and `files` are the others beside the weights.
std::string model_manifest(const Model& model, uint64_t build, const std::string& compiler_version,
                           std::optional<std::string_view> library, std::span<const ArtifactFile> files);

}  // namespace lathe
