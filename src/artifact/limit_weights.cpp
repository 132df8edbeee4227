#include "artifact/limit_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <ranges>
#include <set>

#include "artifact/check_program.h"
#include "artifact/choose_within.h"
#include "base/code_pages.h"
#include "check/problem.h"
#include "measure/time_bounds.h"
#include "records/within.h"
#include "tune/smaller_traces.h"

namespace lathe {
namespace {

// A program of a task: the one that it has, or one that may take its place.
struct KnownProgram {
  ChosenTrace chosen;
  int64_t bytes = 0;                          // that one use keeps
  double seconds = 0;                         // of a run: an estimate, until it is measured
  bool is_recorded = false;                   // that estimate
  std::optional<CompiledTask> compiled = {};  // once it is measured or chosen
};

// A task's programs, the one that it has first.
struct TaskChoices {
  size_t number = 0;
  int64_t weight = 0;  // uses
  int64_t sets = 0;    // of constants
  std::vector<KnownProgram> programs;
  bool is_measured = false;

  const Task& task() const { return programs.front().compiled->task; }
  int64_t most_saved() const { return (programs.front().bytes - programs.back().bytes) * sets; }
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

// To compile a program and to measure it some times: it is loaded, runs first, warms up and has samples
// taken.
constexpr double kCompileSeconds = 0.15;
constexpr double kLeastSeconds = 0.1;
constexpr double kRuns = 8;
constexpr double kUsualSlowness = 2;  // beside the fastest that could be
constexpr int kTurns = 2;

double measuring_seconds(const Task& task, size_t programs) {
  const double turn = kLeastSeconds + kRuns * kUsualSlowness * fastest_seconds(task);
  return drawing_seconds(task.dag) + static_cast<double>(programs) * (kCompileSeconds + kTurns * turn);
}

// Without any measuring: what the records say, else what programs usually take; one that keeps less of the
// constants is slower.
void estimate(std::vector<KnownProgram>& programs, const RecordStore* records) {
  constexpr double kSlower = 1.5;
  for (KnownProgram& program : programs) {
    if (records == nullptr || !program.chosen.record) continue;
    const Result<Record> record = records->by_id(*program.chosen.record);
    program.is_recorded = record && record->measurement.ok();
    if (program.is_recorded) program.seconds = record->measurement.seconds;
  }
  KnownProgram& first = programs.front();
  if (!first.is_recorded) first.seconds = kUsualSlowness * fastest_seconds(first.chosen.task);
  for (KnownProgram& other : programs)
    if (other.seconds == 0) other.seconds = kSlower * first.seconds;
}

Result<TaskChoices> choices_of(CompiledTask compiled, size_t number, const WeightedTask& weighted,
                               int64_t sets, const RecordStore* records) {
  TaskChoices choices{number, weighted.weight, sets, {}};
  const int64_t bytes = weight_bytes(compiled.program);
  LATHE_TRY(std::vector<SmallerTrace> smaller,
            within(weighted.task.name, smaller_traces(weighted.task, records, bytes)));
  ChosenTrace first{compiled.task, compiled.trace, compiled.record};
  choices.programs.push_back({.chosen = std::move(first), .bytes = bytes, .compiled = std::move(compiled)});
  for (SmallerTrace& trace : smaller) choices.programs.push_back({std::move(trace.chosen), trace.bytes});
  estimate(choices.programs, records);
  return choices;
}

bool compiles(KnownProgram& program, size_t number) {
  if (program.compiled) return true;
  Result<CompiledTask> compiled =
      compile_task(program.chosen.task, *program.chosen.trace, program.chosen.record, number);
  if (compiled) program.compiled = std::move(*compiled);
  return program.compiled.has_value();
}

// Seconds of a run of each, none of one that fails. An Error of kind timeout once there is no time left.
Result<std::vector<std::optional<double>>> measured_seconds(const std::vector<KnownProgram>& programs,
                                                            const CompileModelOptions& options) {
  ProblemOptions checks;
  checks.tolerance = options.tolerance;
  LATHE_TRY(Problem problem, Problem::create(programs.front().compiled->task, checks, options.watch));
  release_code_pages();
  std::vector<std::optional<double>> seconds(programs.size());
  for (int turn = 0; turn < kTurns; ++turn) {
    for (size_t i = 0; i < programs.size(); ++i) {
      const CompiledTask& program = *programs[i].compiled;
      MeasureInputs inputs = problem.inputs_for(program.program, program.trace, options.watch);
      inputs.seconds_left = options.watch.deadline.seconds_left();
      inputs.stop = [&] { return options.watch.is_over(); };
      if (inputs.stop()) return fail(ErrorKind::timeout, "there is no time left to measure programs");
      LATHE_TRY(const Measurement measured, options.runner->measure(program.module, inputs));
      if (measured.ok()) seconds[i] = std::min(seconds[i].value_or(measured.seconds), measured.seconds);
    }
  }
  return seconds;
}

// Leaves those programs that were measured. What cannot be compared stays as it is.
Status measure(TaskChoices& task, const CompileModelOptions& options) {
  std::vector<KnownProgram>& programs = task.programs;
  std::erase_if(programs, [&](KnownProgram& program) { return !compiles(program, task.number); });
  const auto seconds = measured_seconds(programs, options);
  if (!seconds && seconds.error().kind == ErrorKind::timeout) return {};
  if (!seconds && seconds.error().kind != ErrorKind::unsupported) return std::unexpected(seconds.error());
  task.is_measured = seconds.has_value() && seconds->front().has_value();
  if (!task.is_measured) {
    programs.resize(1);
    return {};
  }
  for (size_t i = programs.size(); i-- > 0;) {
    if ((*seconds)[i]) {
      programs[i].seconds = *(*seconds)[i];
    } else {
      programs.erase(programs.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  return {};
}

// As many as there is time for: those last whose times are all recorded, and of the others those first that
// can save most.
Status measure_all(std::vector<TaskChoices>& tasks, const CompileModelOptions& options) {
  std::vector<TaskChoices*> order;
  for (TaskChoices& task : tasks) {
    if (task.programs.size() > 1) order.push_back(&task);
  }
  std::ranges::stable_sort(order, {}, [](const TaskChoices* task) {
    const bool all_recorded = std::ranges::all_of(task->programs, &KnownProgram::is_recorded);
    return std::pair(all_recorded, -task->most_saved());
  });
  for (TaskChoices* task : order) {
    const double expected = measuring_seconds(task->task(), task->programs.size());
    if (options.watch.is_over() || expected > options.watch.deadline.seconds_left()) continue;
    if (options.watch.observer)
      options.watch.observer(
          {task->task().name + ": programs with smaller weights are measured", 0, expected});
    LATHE_TRY_STATUS(within(task->task().name, measure(*task, options)));
  }
  return {};
}

// The choice, once all programs that give way to others are replaced by right ones.
Result<std::vector<size_t>> choose_right(std::vector<TaskChoices>& tasks, int64_t limit,
                                         const CompileModelOptions& options) {
  for (;;) {
    std::vector<std::vector<WeightsChoice>> costs;
    for (const TaskChoices& task : tasks) {
      std::vector<WeightsChoice>& each = costs.emplace_back();
      for (const KnownProgram& program : task.programs)
        each.push_back({program.bytes * task.sets, program.seconds * static_cast<double>(task.weight)});
    }
    std::vector<size_t> chosen = choose_within(costs, limit);
    bool all_right = true;
    for (size_t i = 0; i < tasks.size(); ++i) {
      if (chosen[i] == 0) continue;
      KnownProgram& program = tasks[i].programs[chosen[i]];
      bool is_right = compiles(program, tasks[i].number);
      if (is_right) {
        LATHE_TRY(const std::optional<MeasureFailure> failure, check_program(*program.compiled, options));
        is_right = !failure;
      }
      if (is_right) continue;
      all_right = false;
      tasks[i].programs.erase(tasks[i].programs.begin() + static_cast<std::ptrdiff_t>(chosen[i]));
    }
    if (all_right) return chosen;
  }
}

// Weights of the size of an artifact's library, which takes some hundred kilobytes, are nobody's concern.
constexpr int64_t kNegligibleBytes = int64_t{1} << 18;

int64_t most_bytes(int64_t constants, double factor) {
  return std::max(static_cast<int64_t>(static_cast<double>(constants) * factor), kNegligibleBytes);
}

std::string cost_note(const std::vector<TaskChoices>& tasks, const std::vector<size_t>& chosen,
                      int64_t constants, double factor) {
  constexpr double kMegabyte = 1e6;
  int64_t before = 0;
  int64_t after = 0;
  double fast = 0;
  double slow = 0;
  size_t given_up = 0;
  bool is_measured = true;
  for (size_t i = 0; i < tasks.size(); ++i) {
    const KnownProgram& first = tasks[i].programs.front();
    const KnownProgram& taken = tasks[i].programs[chosen[i]];
    before += first.bytes * tasks[i].sets;
    after += taken.bytes * tasks[i].sets;
    if (chosen[i] == 0) continue;
    ++given_up;
    is_measured = is_measured && tasks[i].is_measured;
    fast += first.seconds * static_cast<double>(tasks[i].weight);
    slow += taken.seconds * static_cast<double>(tasks[i].weight);
  }
  std::string text = fmt::format(
      "{:.1f} MB of weights are more than {:g} times the {:.1f} MB of the network's constants "
      "(--weights-limit)",
      static_cast<double>(before) / kMegabyte, factor, static_cast<double>(constants) / kMegabyte);
  if (given_up > 0) {
    text += fmt::format(
        ": with {} of {} tasks on smaller ones they are {:.1f} MB, and these tasks take {:.3f} ms of a run "
        "where they took {:.3f} ms{}",
        given_up, tasks.size(), static_cast<double>(after) / kMegabyte, slow * 1e3, fast * 1e3,
        is_measured ? "" : ", by recorded times and estimates");
  }
  if (after > most_bytes(constants, factor)) text += "; no known programs come within the limit";
  return text;
}

}  // namespace

Status limit_weights(const Network& network, const CompileModelOptions& options,
                     std::vector<CompiledTask>& compiled) {
  if (options.weights_limit <= 0) return {};
  const std::vector<int64_t> sets = constant_sets(network);
  const int64_t constants = constant_bytes(network);
  const int64_t limit = most_bytes(constants, options.weights_limit);
  int64_t all = 0;
  for (size_t i = 0; i < compiled.size(); ++i) all += weight_bytes(compiled[i].program) * sets[i];
  if (all <= limit) return {};
  std::vector<TaskChoices> tasks;
  for (size_t i = 0; i < compiled.size(); ++i) {
    LATHE_TRY(TaskChoices choices,
              choices_of(std::move(compiled[i]), i, network.tasks.tasks[i], sets[i], options.records));
    tasks.push_back(std::move(choices));
  }
  if (options.runner != nullptr) LATHE_TRY_STATUS(measure_all(tasks, options));
  LATHE_TRY(const std::vector<size_t> chosen, choose_right(tasks, limit, options));
  options.note(cost_note(tasks, chosen, constants, options.weights_limit));
  for (size_t i = 0; i < compiled.size(); ++i)
    compiled[i] = std::move(*tasks[i].programs[chosen[i]].compiled);
  return {};
}

double limiting_seconds(const Network& network, double weights_limit) {
  constexpr size_t kUsualPrograms = 4;
  if (weights_limit <= 0) return 0;
  const std::vector<int64_t> sets = constant_sets(network);
  const std::vector<WeightedTask>& tasks = network.tasks.tasks;
  double weights = 0;
  double seconds = 0;
  for (size_t i = 0; i < tasks.size(); ++i) {
    const Result<int64_t> bytes = first_weight_bytes(tasks[i].task);
    if (!bytes) continue;
    weights += static_cast<double>(*bytes * sets[i]);
    if (keeps_more_than_constants(tasks[i].task, *bytes))
      seconds += measuring_seconds(tasks[i].task, kUsualPrograms);
  }
  const auto most = static_cast<double>(most_bytes(constant_bytes(network), weights_limit));
  return weights > most ? seconds : 0;
}

}  // namespace lathe
