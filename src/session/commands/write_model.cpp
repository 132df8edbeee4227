#include "session/commands/write_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "artifact/write/write_artifact.h"
#include "base/compiler_version.h"
#include "base/memory.h"
#include "measure/time_bounds.h"
#include "records/within.h"
#include "target/all.h"

namespace lathe {
namespace {

WriteOptions write_options() {
  WriteOptions options;
  options.compiler_version = compiler_version();
  return options;
}

// Of a run; a loop that the run itself ends is taken to have one step.
double usual_seconds(const Model& model) {
  constexpr double kUsualSlowness = 2;  // beside the fastest that could be
  std::vector<double> runs(model.launches.size(), 1);
  for (const ModelLoop& loop : model.loops) {
    for (size_t i = loop.first_launch; i < loop.first_launch + loop.launch_count && !loop.condition; ++i)
      runs[i] *= static_cast<double>(loop.steps);
  }
  double seconds = 0;
  for (size_t i = 0; i < runs.size(); ++i)
    seconds += runs[i] * kUsualSlowness * fastest_seconds(model.kernels[model.launches[i].kernel].task);
  return seconds;
}

double bytes_of_interface(const Model& model) {
  double bytes = 0;
  for (const auto* tensors : {&model.inputs, &model.outputs}) {
    for (const ModelTensor& tensor : *tensors) {
      auto own = static_cast<double>(bytes_of(tensor.dtype));
      for (const int64_t extent : tensor.shape) own *= static_cast<double>(extent);
      bytes += own;
    }
  }
  return bytes;
}

}  // namespace

std::string folder_below(const std::string& out, const std::string& name) {
  const size_t end = out.find_last_not_of('/');
  return (std::filesystem::path(end == std::string::npos ? out : out.substr(0, end + 1)) / name).string();
}

Result<WrittenModel> write_model(Model model, const std::string& folder, const Deadline& deadline,
                                 const WorkObserver& work) {
  WrittenModel written;
  written.name = model.name;
  written.folder = folder;
  const Target target = model.target;
  const double expected_seconds = usual_seconds(model);
  const WorkState run = {model.name + ": the artifact is run", 0,
                         expected_seconds + drawing_seconds(bytes_of_interface(model))};
  LATHE_TRY_STATUS(write_artifact(std::move(model), folder, write_options()));
  if (!check_runs_here(target)) return written;
  if (work) work(run);
  const Result<ArtifactTime> time =
      within_memory([&] { return time_artifact(folder, cores_of(target), expected_seconds, deadline); });
  if (time) {
    written.time = *time;
  } else {
    written.untimed = time.error().to_string();
  }
  return written;
}

Status write_untimed(Model model, const std::string& folder) {
  return write_artifact(std::move(model), folder, write_options());
}

Result<WrittenModel> write_model_sources(Model model, const std::string& folder) {
  WrittenModel written;
  written.name = model.name;
  written.folder = folder;
  LATHE_TRY_STATUS(write_c_sources(std::move(model), folder, write_options()));
  return written;
}

Status check_compiler() { return check_compiler(write_options()); }

Status check_name(const std::string& name, size_t models) {
  if (name.empty()) return {};
  if (models > 1) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("one name is given, and {} models are written", models), "--name");
  }
  return within("--name", check_model_name(name));
}

std::optional<std::string> uncompared_note(const Model& model) {
  std::vector<std::string> reasons;
  for (const CompiledTask& kernel : model.kernels) {
    if (kernel.uncompared) reasons.push_back(fmt::format("{}: {}", kernel.task.name, *kernel.uncompared));
  }
  if (reasons.empty()) return std::nullopt;
  return fmt::format("{}: kernels whose results were not all compared with a reference: {} of {} ({})",
                     model.name, reasons.size(), model.kernels.size(), fmt::join(reasons, "; "));
}

// A file of another version, target or number of cores would else be passed over in silence.
std::optional<std::string> untuned_note(const Model& model, const std::string& records) {
  const auto untuned = std::ranges::count_if(model.kernels, [](const CompiledTask& kernel) {
    return !kernel.record && !kernel.goes_before_records;
  });
  if (records.empty() || untuned == 0) return std::nullopt;
  return fmt::format("{}: kernels that {} has no usable program for, compiled untuned: {} of {}", model.name,
                     records, untuned, model.kernels.size());
}

}  // namespace lathe
