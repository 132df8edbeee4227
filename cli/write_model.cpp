#include "cli/write_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "artifact/write_artifact.h"
#include "cli/console.h"
#include "tune/compiler_version.h"

namespace lathe::cli {

namespace {

WriteOptions write_options() {
  WriteOptions options;
  options.compiler_version = compiler_version();
  return options;
}

}  // namespace

Status write_model(const Model& model, const std::string& folder) {
  LATHE_TRY_STATUS(write_artifact(model, folder, write_options()));
  to_stdout("{}: {}\n", model.name, folder);
  return {};
}

Status check_compiler() { return check_compiler(write_options()); }

void report_rejected(const std::string& sentence) { to_stderr("lathe: {}\n", sentence); }

std::optional<std::string> uncompared_note(const Model& model) {
  std::vector<std::string> reasons;
  for (const CompiledTask& kernel : model.kernels) {
    if (kernel.uncompared) reasons.push_back(fmt::format("{}: {}", kernel.task.name, *kernel.uncompared));
  }
  if (reasons.empty()) return std::nullopt;
  return fmt::format("{}: kernels whose results were not compared with a reference: {} of {} ({})",
                     model.name, reasons.size(), model.kernels.size(), fmt::join(reasons, "; "));
}

Status write_model_sources(const Model& model, const std::string& folder) {
  LATHE_TRY_STATUS(write_c_sources(model, folder, write_options()));
  to_stdout("{}: {}\n", model.name, folder);
  return {};
}

}  // namespace lathe::cli
