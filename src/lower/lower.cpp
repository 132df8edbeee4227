#include "lower/lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "loop/verify.h"
#include "lower/passes.h"

namespace lathe {
namespace {

struct PassesOf {
  std::span<const Pass> operator()(const CpuTarget&) const { return cpu_passes(); }
  std::span<const Pass> operator()(const GpuTarget&) const { return gpu_passes(); }
};

struct PlanOf {
  const Program& program;
  MemoryPlan operator()(const CpuTarget&) const { return plan_memory(program); }
  MemoryPlan operator()(const GpuTarget&) const { return plan_kernel_memory(program); }
};

constexpr std::string_view kPlanMemory = "plan_memory";

Status verified(std::string_view pass, const Program& program) {
  Status status = verify(program);
  if (!status) status.error().message = fmt::format("after {}: {}", pass, status.error().message);
  return status;
}

}  // namespace

Result<LoweredProgram> lower(const Program& program, const Target& target, const LowerOptions& options) {
  const std::span<const Pass> passes = std::visit(PassesOf{}, target.kind);
  std::vector<std::string_view> names;
  for (const Pass& pass : passes) names.push_back(pass.name);
  names.push_back(kPlanMemory);
  if (!options.stop_after.empty() && std::ranges::find(names, options.stop_after) == names.end()) {
    return fail(ErrorKind::invalid_argument, fmt::format("there is no pass '{}'; the passes are {}",
                                                         options.stop_after, fmt::join(names, ", ")));
  }
  LoweredProgram lowered{program, {}};
  for (const Pass& pass : passes) {
    const auto start = std::chrono::steady_clock::now();
    LATHE_TRY(lowered.program, pass.run(lowered.program, options));
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    if (options.verifies) LATHE_TRY_STATUS(verified(pass.name, lowered.program));
    if (options.after_pass) LATHE_TRY_STATUS(options.after_pass(pass.name, lowered.program, time.count()));
    if (options.stop_after == pass.name) return lowered;
  }
  lowered.memory = std::visit(PlanOf{lowered.program}, target.kind);
  return lowered;
}

}  // namespace lathe
