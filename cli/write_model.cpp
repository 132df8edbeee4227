#include "cli/write_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <vector>

#include "artifact/time_artifact.h"
#include "artifact/write_artifact.h"
#include "base/compiler_version.h"
#include "cli/console.h"
#include "cli/progress.h"
#include "measure/time_bounds.h"
#include "records/within.h"
#include "target/all.h"

namespace lathe::cli {

namespace {

WriteOptions write_options() {
  WriteOptions options;
  options.compiler_version = compiler_version();
  return options;
}

std::string time_text(const ArtifactTime& time) {
  constexpr double kShort = 1e-4;
  return fmt::format(", {:.{}f} ms a run (median of {}, spread {:.1f} %)", time.seconds * 1e3,
                     time.seconds < kShort ? 5 : 3, time.samples, 100 * time.spread);
}

// Of a run.
double usual_seconds(const Model& model) {
  constexpr double kUsualSlowness = 2;  // beside the fastest that could be
  double seconds = 0;
  for (const ModelLaunch& launch : model.launches)
    seconds += kUsualSlowness * fastest_seconds(model.kernels[launch.kernel].task);
  return seconds;
}

}  // namespace

std::string folder_below(const std::string& out, const std::string& name) {
  return (std::filesystem::path(out) / name).string();
}

Status write_model(Model model, const std::string& folder, const Deadline& deadline) {
  const std::string name = model.name;
  const Target target = model.target;
  const WorkState run = {name + ": the artifact is run", 0, usual_seconds(model)};
  LATHE_TRY_STATUS(write_artifact(std::move(model), folder, write_options()));
  if (!check_runs_here(target)) {
    to_stdout("{}: {}\n", name, folder);
    return {};
  }
  ProgressLine line;
  line.show_work(0, 1, run);
  const Result<ArtifactTime> time = time_artifact(folder, cores_of(target), deadline);
  line.finish();
  to_stdout("{}: {}{}\n", name, folder, time ? time_text(*time) : "");
  if (!time) report_note(fmt::format("{}: its latency is unknown: {}", name, time.error().to_string()));
  return {};
}

Status check_name(const std::string& name, size_t models) {
  if (name.empty()) return {};
  if (models > 1) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("one name is given, and {} models are written", models), "--name");
  }
  return within("--name", check_model_name(name));
}

Status check_compiler() { return check_compiler(write_options()); }

void report_note(const std::string& sentence) { to_stderr("lathe: note: {}\n", sentence); }

void add_weights_limit(OptionSet& command, std::optional<double>& factor) {
  command.number("--weights-limit", factor,
                 "a network's weights take at most so many times the bytes of its constants; default: 2, 0: "
                 "any number",
                 {0, 1e9});
}

void report_rejected(const std::string& sentence) { to_stderr("lathe: {}\n", sentence); }

std::optional<std::string> uncompared_note(const Model& model) {
  std::vector<std::string> reasons;
  for (const CompiledTask& kernel : model.kernels) {
    if (kernel.uncompared) reasons.push_back(fmt::format("{}: {}", kernel.task.name, *kernel.uncompared));
  }
  if (reasons.empty()) return std::nullopt;
  return fmt::format("{}: kernels whose results were not all compared with a reference: {} of {} ({})",
                     model.name, reasons.size(), model.kernels.size(), fmt::join(reasons, "; "));
}

std::optional<Checked> checked_of(const std::string& name) {
  if (name == "full") return Checked::full;
  if (name == "sampled") return Checked::sampled;
  if (name == "none") return Checked::none;
  return std::nullopt;
}

void add_check_option(OptionSet& options, std::string& check) {
  options.text("--check", check,
               "how much of what each kernel computes is compared with a reference: full, sampled or none; "
               "default: full, but sampled where that takes over a minute",
               {.one_of = {"full", "sampled", "none"}});
}

Status write_model_sources(Model model, const std::string& folder) {
  const std::string name = model.name;
  LATHE_TRY_STATUS(write_c_sources(std::move(model), folder, write_options()));
  to_stdout("{}: {}\n", name, folder);
  return {};
}

}  // namespace lathe::cli
