// What each threshold of analysis/cost_constants.h is good for, over all cases of a file: for how
// many of them trial 0 is another program with the threshold at its neutral value, for how many the space or
// the programs tried first are others; and, for some of those whose trial 0 changes, what it takes then.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "../replay_kernels/network_tasks.h"
#include "base/read_file.h"
#include "ops/workloads.h"
#include "space/lathe/derive_lathe.h"
#include "space/lathe/gpu/derive_gpu.h"
#include "target/all.h"
#include "target/detect.h"
#include "trial_seconds.h"

namespace lathe {
namespace {

constexpr const char* kUsage =
    "usage: ablate_constants CASES                  changed traces, a line a constant\n"
    "       ablate_constants CASES time N [NAME]    and the time of trial 0 without it, of N changed cases\n"
    "                                               each, on this processor, one core\n"
    "CASES: a file of operators (workloads/operators.json), or of networks' tasks\n"
    "(tools/replay_kernels/network_tasks.json)\n";

// A case on one machine, its space as it is, and what is compared of it.
struct Subject {
  Task task;
  Space space;
  std::string first_trace;
  std::string description;
};

std::string first_trace(const Space& space) {
  if (space.preferred_points().empty()) return to_string(space.naive());
  return to_string(space.trace(space.preferred_points().front()).value());
}

Result<Space> derive(const Task& task, const CostConstants& costs) {
  const bool has_threads = std::holds_alternative<GpuTarget>(task.target.kind);
  return has_threads ? derive_gpu(task, costs) : derive_lathe(task, costs);
}

// All that is to be searched, and what is tried first, as a text.
std::string described(const Space& space) {
  std::string text;
  const auto add = [&](const Point& point) {
    const Result<Trace> trace = space.trace(point);
    text += trace ? to_string(*trace) : trace.error().message;
  };
  for (size_t s = 0; s < space.sketches().size(); ++s) {
    const Sketch& sketch = space.sketches()[s];
    text += fmt::format("{} {} {}\n", sketch.name, sketch.domain.parameters.size(), sketch.domain.size());
    add({static_cast<int>(s), sketch.preferred});
  }
  for (const Point& point : space.preferred_points()) add(point);
  return text;
}

struct Effect {
  std::vector<size_t> first_traces;  // subjects
  int spaces = 0;
};

Effect effect_of(const CostConstant& constant, const std::vector<Subject>& subjects) {
  CostConstants without;
  without.*constant.value = constant.neutral;
  Effect effect;
  for (size_t i = 0; i < subjects.size(); ++i) {
    const Result<Space> space = derive(subjects[i].task, without);
    if (!space || first_trace(*space) != subjects[i].first_trace) effect.first_traces.push_back(i);
    effect.spaces += !space || described(*space) != subjects[i].description ? 1 : 0;
  }
  return effect;
}

// How many times as long trial 0 takes without the constant: the geometric mean, and the extremes.
Result<std::string> time_without(const CostConstant& constant, const std::vector<Subject>& subjects,
                                 const std::vector<size_t>& changed, int most) {
  CostConstants without;
  without.*constant.value = constant.neutral;
  std::string cases;
  double logarithms = 0;
  int timed = 0;
  // Those that lie evenly among the changed ones.
  const size_t count = std::min(changed.size(), static_cast<size_t>(most));
  for (size_t k = 0; k < count; ++k) {
    const Subject& subject = subjects[changed[k * changed.size() / count]];
    LATHE_TRY(const Space space, derive(subject.task, without));
    if (space.preferred_points().empty()) continue;
    LATHE_TRY(const Trace with_it, subject.space.trace(subject.space.preferred_points().front()));
    LATHE_TRY(const Trace without_it, space.trace(space.preferred_points().front()));
    const auto seconds = trial_seconds(subject.task, {with_it, without_it}, 5);
    if (!seconds) continue;
    const double ratio = (*seconds)[1] / (*seconds)[0];
    logarithms += std::log(ratio);
    ++timed;
    cases += fmt::format(" {} {:.2f}", subject.task.name, ratio);
  }
  if (timed == 0) return std::string("-");
  return fmt::format("{:.3f} of {}:{}", std::exp(logarithms / timed), timed, cases);
}

// Makes one case for a target.
using Maker = std::function<Result<Task>(const Target&)>;

Result<std::vector<Maker>> makers_of(const std::string& path) {
  std::vector<Maker> makers;
  if (const auto operators = load_workloads(path)) {
    for (const Workload& workload : *operators)
      makers.push_back([workload](const Target& target) { return make_task(workload, target, true); });
    return makers;
  }
  LATHE_TRY(const std::string text, read_file(path));
  LATHE_TRY(const std::vector<TaskText> tasks, parse_task_texts(text, path));
  for (const TaskText& task : tasks)
    makers.push_back([task](const Target& target) { return task_from(task, target); });
  return makers;
}

Result<std::vector<Subject>> subjects_of(const std::string& path, bool is_timed) {
  LATHE_TRY(const std::vector<Maker> makers, makers_of(path));
  const Target typical = generic_target("x86-avx2");
  const Target here = is_timed ? detect_target().value_or(typical) : typical;
  std::vector<Subject> subjects;
  const auto add = [&](const Maker& make, const Target& target) -> Status {
    LATHE_TRY(Task task, make(target));
    LATHE_TRY(Space space, derive(task, {}));
    std::string first = first_trace(space);
    std::string description = described(space);
    subjects.push_back({std::move(task), std::move(space), std::move(first), std::move(description)});
    return {};
  };
  for (size_t i = 0; i < makers.size(); ++i) {
    const Target target = is_timed || i % 2 == 0 ? here : generic_target("x86-avx512");
    const int cores = is_timed || i % 3 != 0 ? 1 : 2;
    LATHE_TRY_STATUS(add(makers[i], with_cores(target, cores)));
    // A task that requires an algorithm has no programs there.
    if (!is_timed) static_cast<void>(add(makers[i], generic_target("opencl")));
  }
  return subjects;
}

Status run(const std::string& path, int most, std::string_view name) {
  LATHE_TRY(const std::vector<Subject> subjects, subjects_of(path, most > 0));
  fmt::print("| constant | value | neutral | trial 0 of {} | spaces |{}\n", subjects.size(),
             most > 0 ? " time without |" : "");
  fmt::print("|---|---|---|---|---|{}\n", most > 0 ? "---|" : "");
  for (const CostConstant& constant : kCostConstants) {
    if (!name.empty() && name != constant.name) continue;
    const Effect effect = effect_of(constant, subjects);
    fmt::print("| `{}` | {:g} | {:g} | {} | {} |", constant.name, CostConstants().*constant.value,
               constant.neutral, effect.first_traces.size(), effect.spaces);
    if (most > 0) {
      LATHE_TRY(const std::string times, time_without(constant, subjects, effect.first_traces, most));
      fmt::print(" {} |", times);
    }
    fmt::print("\n");
    std::fflush(stdout);
  }
  return {};
}

}  // namespace
}  // namespace lathe

int main(int count, char** arguments) {
  const std::vector<std::string> given(arguments + 1, arguments + count);
  int most = 0;
  const bool is_timed = given.size() >= 3 && given.size() <= 4 && given[1] == "time";
  if (is_timed) std::from_chars(given[2].data(), given[2].data() + given[2].size(), most);
  if (!(given.size() == 1 || (is_timed && most > 0))) {
    fmt::print(stderr, "{}", lathe::kUsage);
    return 2;
  }
  const lathe::Status done = lathe::run(given[0], most, given.size() == 4 ? given[3] : "");
  if (done) return 0;
  fmt::print(stderr, "ablate_constants: {}\n", done.error().to_string());
  return 1;
}
