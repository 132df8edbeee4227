#include "artifact/limit_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <ranges>
#include <set>
#include <span>

#include "artifact/check_program.h"
#include "artifact/choose_within.h"
#include "records/within.h"
#include "tune/problem.h"
#include "tune/smaller_traces.h"
#include "tune/time_bounds.h"

namespace lathe {
namespace {

// A task's programs, the one that it has first, each with what it means for the whole network.
struct Choices {
  std::vector<CompiledTask> programs;
  std::vector<WeightsChoice> costs;
};

// Of each task, how many sets of constants its uses have: each set is prepared once.
std::vector<int64_t> constant_sets(const Network& network) {
  std::vector<std::set<std::vector<TensorId>>> sets(network.tasks.tasks.size());
  for (const TaskUse& use : network.tasks.uses) {
    std::vector<TensorId> constants;
    for (const TensorId id : use.arguments)
      if (network.graph.tensor(id).is_constant()) constants.push_back(id);
    sets[use.task].insert(std::move(constants));
  }
  std::vector<int64_t> counts;
  for (const auto& set : sets) counts.push_back(static_cast<int64_t>(set.size()));
  return counts;
}

int64_t constant_bytes(const Network& network) {
  std::set<TensorId> constants;
  int64_t bytes = 0;
  for (const TaskUse& use : network.tasks.uses) {
    for (const TensorId id : use.arguments) {
      const GraphTensor& tensor = network.graph.tensor(id);
      if (tensor.is_constant() && constants.insert(id).second)
        bytes += static_cast<int64_t>(tensor.data->size());
    }
  }
  return bytes;
}

// To measure a program once: it is loaded, runs first, warms up and has samples taken.
constexpr double kLeastSeconds = 0.1;
constexpr double kRuns = 8;
constexpr double kUsualSlowness = 2;  // beside the fastest that could be
constexpr int kTurns = 2;

double measuring_seconds(const Task& task, size_t programs) {
  return drawing_seconds(task.dag) + static_cast<double>(programs * kTurns) *
                                         (kLeastSeconds + kRuns * kUsualSlowness * fastest_seconds(task));
}

// A task's programs, and seconds of a run of each: none of one that fails.
using Seconds = std::vector<std::optional<double>>;

// An Error of kind timeout once there is no time left.
Result<Seconds> measure(const std::vector<CompiledTask>& programs, const CompileModelOptions& options) {
  ProblemOptions checks;
  checks.tolerance = options.tolerance;
  LATHE_TRY(Problem problem, Problem::create(programs.front().task, checks));
  Seconds seconds(programs.size());
  for (int turn = 0; turn < kTurns; ++turn) {
    for (size_t i = 0; i < programs.size(); ++i) {
      const CompiledTask& program = programs[i];
      MeasureInputs inputs = problem.inputs_for(program.program, program.trace);
      inputs.seconds_left = options.watch.deadline.seconds_left();
      inputs.stop = [&] { return options.watch.is_over(); };
      if (inputs.stop()) return fail(ErrorKind::timeout, "there is no time left to measure programs");
      LATHE_TRY(const Measurement measured, options.runner->measure(program.module, inputs));
      if (measured.ok()) seconds[i] = std::min(seconds[i].value_or(measured.seconds), measured.seconds);
    }
  }
  return seconds;
}

// Without any measuring: what the records say, else what programs usually take; one that keeps less of the
// constants is slower.
Seconds estimate(const std::vector<CompiledTask>& programs, const RecordStore* records) {
  constexpr double kSlower = 1.5;
  const auto recorded = [&](const CompiledTask& program) -> std::optional<double> {
    if (records == nullptr || !program.record) return std::nullopt;
    const Result<Record> record = records->by_id(*program.record);
    if (!record || !record->measurement.ok()) return std::nullopt;
    return record->measurement.seconds;
  };
  const CompiledTask& first = programs.front();
  const double fastest = recorded(first).value_or(kUsualSlowness * fastest_seconds(first.task));
  Seconds seconds{fastest};
  for (size_t i = 1; i < programs.size(); ++i)
    seconds.push_back(recorded(programs[i]).value_or(kSlower * fastest));
  return seconds;
}

// The task's program and of the traces that may take its place, the largest first, all or the smallest alone.
std::vector<CompiledTask> programs_of(CompiledTask program, std::span<const ChosenTrace> smaller,
                                      size_t number, bool is_smallest_enough) {
  std::vector<CompiledTask> programs;
  programs.push_back(std::move(program));
  for (const ChosenTrace& chosen : std::views::reverse(smaller)) {
    if (is_smallest_enough && programs.size() > 1) break;
    Result<CompiledTask> compiled = compile_task(chosen.task, *chosen.trace, chosen.record, number);
    if (compiled) programs.push_back(std::move(*compiled));
  }
  return programs;
}

// Of each task's programs; measured, or where that does not fit into the time, or is not to be, estimated.
struct Times {
  std::vector<Seconds> seconds;
  bool are_measured = false;
};

Result<Times> times_of(const std::vector<std::vector<CompiledTask>>& tasks, bool may_measure,
                       const CompileModelOptions& options) {
  Times times;
  times.are_measured = may_measure;
  for (size_t i = 0; i < tasks.size() && times.are_measured; ++i) {
    times.seconds.emplace_back(1, 0.0);
    if (tasks[i].size() == 1) continue;
    Result<Seconds> measured = measure(tasks[i], options);
    if (measured) {
      times.seconds.back() = std::move(*measured);
    } else if (measured.error().kind == ErrorKind::timeout) {
      times.are_measured = false;
    } else if (measured.error().kind != ErrorKind::unsupported) {
      return within(tasks[i].front().task.name, Result<Times>(std::unexpected(measured.error())));
    }
  }
  if (times.are_measured) return times;
  times.seconds.clear();
  for (const std::vector<CompiledTask>& programs : tasks)
    times.seconds.push_back(estimate(programs, options.records));
  return times;
}

// What cannot be compared has not been measured, and stays as it is.
Choices choices_of(std::vector<CompiledTask> programs, const Seconds& seconds, int64_t weight, int64_t sets) {
  Choices choices;
  const bool is_known = seconds.size() == programs.size() && seconds.front();
  for (size_t i = 0; i < programs.size(); ++i) {
    if (i > 0 && (!is_known || !seconds[i])) continue;
    const double each = is_known ? *seconds[i] : 0;
    choices.costs.push_back({weight_bytes(programs[i].program) * sets, each * static_cast<double>(weight)});
    choices.programs.push_back(std::move(programs[i]));
  }
  return choices;
}

// The choice, once all programs that give way to others are replaced by right ones.
Result<std::vector<size_t>> choose_right(std::vector<Choices>& tasks, int64_t limit,
                                         const CompileModelOptions& options) {
  for (;;) {
    std::vector<std::vector<WeightsChoice>> costs;
    for (const Choices& choices : tasks) costs.push_back(choices.costs);
    std::vector<size_t> chosen = choose_within(costs, limit);
    bool all_right = true;
    for (size_t i = 0; i < tasks.size(); ++i) {
      if (chosen[i] == 0) continue;
      const auto place = static_cast<std::ptrdiff_t>(chosen[i]);
      LATHE_TRY(const std::optional<MeasureFailure> failure,
                check_program(tasks[i].programs[chosen[i]], options));
      if (!failure) continue;
      all_right = false;
      tasks[i].programs.erase(tasks[i].programs.begin() + place);
      tasks[i].costs.erase(tasks[i].costs.begin() + place);
    }
    if (all_right) return chosen;
  }
}

std::string cost_note(const std::vector<Choices>& tasks, const std::vector<size_t>& chosen, int64_t constants,
                      double factor, bool is_measured) {
  constexpr double kMegabyte = 1e6;
  int64_t before = 0;
  int64_t after = 0;
  double fast = 0;
  double lost = 0;
  size_t given_up = 0;
  for (size_t i = 0; i < tasks.size(); ++i) {
    const WeightsChoice& first = tasks[i].costs.front();
    const WeightsChoice& taken = tasks[i].costs[chosen[i]];
    before += first.bytes;
    after += taken.bytes;
    fast += first.seconds;
    lost += taken.seconds - first.seconds;
    given_up += chosen[i] == 0 ? 0 : 1;
  }
  std::string text = fmt::format(
      "{:.1f} MB of weights are more than {:g} times the {:.1f} MB of the network's constants "
      "(--weights-limit): with {} of {} tasks on smaller ones they are {:.1f} MB",
      static_cast<double>(before) / kMegabyte, factor, static_cast<double>(constants) / kMegabyte, given_up,
      tasks.size(), static_cast<double>(after) / kMegabyte);
  if (is_measured) {
    text += fmt::format(", which costs {:.3f} ms of the {:.3f} ms that these tasks with large weights take",
                        lost * 1e3, fast * 1e3);
  }
  return text;
}

}  // namespace

Status limit_weights(const Network& network, const CompileModelOptions& options,
                     std::vector<CompiledTask>& compiled) {
  if (options.weights_limit <= 0) return {};
  const std::vector<int64_t> sets = constant_sets(network);
  const int64_t constants = constant_bytes(network);
  const auto limit = static_cast<int64_t>(static_cast<double>(constants) * options.weights_limit);
  int64_t all = 0;
  for (size_t i = 0; i < compiled.size(); ++i) all += weight_bytes(compiled[i].program) * sets[i];
  if (all <= limit) return {};
  const std::vector<WeightedTask>& weighted = network.tasks.tasks;
  std::vector<std::vector<ChosenTrace>> smaller;
  double measuring = 0;
  for (size_t i = 0; i < compiled.size(); ++i) {
    const Task& task = weighted[i].task;
    LATHE_TRY(std::vector<ChosenTrace> traces,
              within(task.name, smaller_traces(task, options.records, weight_bytes(compiled[i].program))));
    if (!traces.empty()) measuring += measuring_seconds(task, traces.size() + 1);
    smaller.push_back(std::move(traces));
  }
  const bool may_measure = options.runner != nullptr && measuring < options.watch.deadline.seconds_left();
  std::vector<std::vector<CompiledTask>> programs;
  for (size_t i = 0; i < compiled.size(); ++i)
    programs.push_back(programs_of(std::move(compiled[i]), smaller[i], i, !may_measure));
  LATHE_TRY(const Times times, times_of(programs, may_measure, options));
  std::vector<Choices> tasks;
  for (size_t i = 0; i < programs.size(); ++i)
    tasks.push_back(choices_of(std::move(programs[i]), times.seconds[i], weighted[i].weight, sets[i]));
  LATHE_TRY(const std::vector<size_t> chosen, choose_right(tasks, limit, options));
  options.note(cost_note(tasks, chosen, constants, options.weights_limit, times.are_measured));
  for (size_t i = 0; i < compiled.size(); ++i) compiled[i] = std::move(tasks[i].programs[chosen[i]]);
  return {};
}

}  // namespace lathe
