#include "cli/write_model.h"

#include <fmt/format.h>

#include <cstdio>

#include "artifact/write_artifact.h"
#include "tune/compiler_version.h"

namespace lathe::cli {

Status write_model(const Model& model, const std::string& folder) {
  WriteOptions options;
  options.compiler_version = compiler_version();
  LATHE_TRY_STATUS(write_artifact(model, folder, options));
  fmt::print("{}: {}\n", model.name, folder);
  return {};
}

}  // namespace lathe::cli
