#include "artifact/check_program.h"

#include <fmt/format.h>

#include <cmath>

#include "base/memory.h"
#include "check/problem.h"
#include "measure/time_bounds.h"

namespace lathe {
namespace {

// A comparison that is expected to take longer must be asked for.
constexpr double kReasonableSeconds = 60;

// What is told of a kernel's comparison names the kernel.
Watch watch_of(const Task& task, const CompileModelOptions& options) {
  Watch watch = options.watch;
  if (!watch.observer) return watch;
  watch.observer = [name = task.name, observer = options.watch.observer](WorkState state) {
    state.what = fmt::format("{}: {}", name, state.what);
    observer(state);
  };
  return watch;
}

// Why not all elements are to be compared, where they are not.
std::optional<std::string> reason_to_sample(const Task& task, const CompileModelOptions& options) {
  if (options.check == Checked::sampled) return "as was asked for";
  const double expected = full_check_seconds(task);
  if (expected > options.watch.deadline.seconds_left())
    return fmt::format("for want of time: all take about {:.0f} s", std::ceil(expected));
  if (options.check || expected <= kReasonableSeconds) return std::nullopt;
  return fmt::format("all take about {:.0f} s (--check full)", expected);
}

// Runs a program once and compares a sample.
Result<std::optional<MeasureFailure>> failure_of_sample(CompiledTask& compiled, Problem& problem,
                                                        const Watch& watch, const std::string& why,
                                                        const CompileModelOptions& options) {
  LATHE_TRY(std::optional<MeasureFailure> failure,
            problem.check_sampled(compiled.program, compiled.trace, compiled.module, *options.runner, watch));
  if (failure && failure->kind == ErrorKind::timeout && watch.is_over()) {
    compiled.uncompared = "there was no time left to run it";
    return std::nullopt;
  }
  if (failure) return failure;
  compiled.checked = Checked::sampled;
  if (options.check != Checked::sampled) compiled.uncompared = "a sample of its elements was, " + why;
  return std::nullopt;
}

}  // namespace

Result<std::optional<MeasureFailure>> check_program(CompiledTask& compiled,
                                                    const CompileModelOptions& options) {
  const auto is_in = [&](const std::set<int64_t>& records) {
    return compiled.record && records.contains(*compiled.record);
  };
  if (is_in(options.confirmed)) compiled.checked = Checked::full;
  if (options.runner == nullptr || options.check == Checked::none || compiled.checked == Checked::full)
    return std::nullopt;
  std::optional<std::string> why = reason_to_sample(compiled.task, options);
  if (why && is_in(options.sampled)) {
    compiled.checked = Checked::sampled;
    compiled.uncompared = "a sample of its elements was, " + *why;
    return std::nullopt;
  }
  const Watch watch = watch_of(compiled.task, options);
  const double drawing = drawing_seconds(compiled.task.dag);
  if (watch.deadline.seconds_left() <= drawing) {
    compiled.uncompared = kNoTimeLeft;
    return std::nullopt;
  }
  ProblemOptions checks;
  checks.tolerance = options.tolerance;
  Result<Problem> problem = within_memory([&] { return Problem::create(compiled.task, checks, watch); });
  if (!problem && problem.error().kind == ErrorKind::timeout) {
    compiled.uncompared = kNoTimeLeft;
    return std::nullopt;
  }
  if (!problem && problem.error().kind == ErrorKind::unsupported) {
    compiled.uncompared = problem.error().message;
    return std::nullopt;
  }
  if (!problem) return std::unexpected(problem.error());
  if (why) return failure_of_sample(compiled, *problem, watch, *why, options);
  LATHE_TRY(const FullCheck check, problem->check_in_full(compiled.program, compiled.trace, compiled.module,
                                                          *options.runner, watch));
  if (check.unfinished) return failure_of_sample(compiled, *problem, watch, *check.unfinished, options);
  if (!check.failure) compiled.checked = Checked::full;
  return check.failure;
}

}  // namespace lathe
