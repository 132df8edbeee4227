#include "artifact/limit_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <ranges>
#include <set>

#include "artifact/choose_within.h"
#include "measure/statistics.h"
#include "records/within.h"
#include "tune/smaller_traces.h"

namespace lathe {
namespace {

// A program of a task: the one that it has, or one that may take its place.
struct KnownProgram {
  ChosenTrace chosen;
  int64_t bytes = 0;                          // that one use keeps
  double seconds = 0;                         // of a run
  bool is_recorded = false;                   // those seconds; else they are estimated
  std::optional<CompiledTask> compiled = {};  // once it is chosen
};

// A task's programs, the one that it has first.
struct TaskChoices {
  size_t number = 0;
  int64_t weight = 0;   // uses
  int64_t sets = 0;     // of constants
  double estimate = 0;  // seconds of the untuned program by the model; 0: it has none
  std::vector<KnownProgram> programs = {};
};

// Weights of the size of an artifact's library, which takes some hundred kilobytes, are nobody's concern.
constexpr int64_t kNegligibleBytes = int64_t{1} << 18;

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

// Cycles of a processor of 3 GHz.
double seconds_by_model(double cycles, const Task& task) {
  constexpr double kHertz = 3e9;
  return cycles / kHertz / cores_of(task.target);
}

// What the records say, else what the analytic model does.
double seconds_of(KnownProgram& program, double cycles, const RecordStore* records) {
  if (records != nullptr && program.chosen.record) {
    const Result<Record> record = records->by_id(*program.chosen.record);
    program.is_recorded = record && record->measurement.ok();
    if (program.is_recorded) return record->measurement.seconds;
  }
  return seconds_by_model(cycles, program.chosen.task);
}

Result<TaskChoices> choices_of(CompiledTask compiled, size_t number, const WeightedTask& weighted,
                               int64_t sets, const RecordStore* records) {
  TaskChoices choices{number, weighted.weight, sets};
  const int64_t bytes = weight_bytes(compiled.program);
  LATHE_TRY(SmallerTraces smaller, within(weighted.task.name, smaller_traces(weighted.task, records, bytes)));
  ChosenTrace first{compiled.task, compiled.trace, compiled.record};
  choices.programs.push_back({.chosen = std::move(first), .bytes = bytes, .compiled = std::move(compiled)});
  KnownProgram& own = choices.programs.front();
  own.seconds = seconds_of(own, smaller.untuned_cycles, records);
  choices.estimate = seconds_by_model(smaller.untuned_cycles, weighted.task);
  for (SmallerTrace& trace : smaller.traces) {
    KnownProgram& other = choices.programs.emplace_back(std::move(trace.chosen), trace.bytes);
    other.seconds = seconds_of(other, trace.cycles, records);
  }
  return choices;
}

// Estimates are of what a machine could do. Beside recorded times they count as many times as long as the
// task's own program takes by its record, or where that has none as others do.
void scale_estimates(std::vector<TaskChoices>& tasks) {
  const auto slowness_of = [](const TaskChoices& task) -> std::optional<double> {
    const KnownProgram& own = task.programs.front();
    if (!own.is_recorded || task.estimate <= 0) return std::nullopt;
    return own.seconds / task.estimate;
  };
  std::vector<double> known;
  for (const TaskChoices& task : tasks)
    if (const auto slowness = slowness_of(task)) known.push_back(*slowness);
  if (known.empty()) return;
  const double usual = median(known);
  for (TaskChoices& task : tasks) {
    const double slowness = slowness_of(task).value_or(usual);
    for (KnownProgram& program : task.programs)
      if (!program.is_recorded) program.seconds *= slowness;
  }
}

bool compiles(KnownProgram& program, size_t number) {
  if (program.compiled) return true;
  Result<CompiledTask> compiled =
      compile_task(program.chosen.task, *program.chosen.trace, program.chosen.record, number);
  if (compiled) program.compiled = std::move(*compiled);
  return program.compiled.has_value();
}

// The choice, once all programs that others give way to are compiled.
std::vector<size_t> choose_compiled(std::vector<TaskChoices>& tasks, int64_t limit) {
  for (;;) {
    std::vector<std::vector<WeightsChoice>> costs;
    for (const TaskChoices& task : tasks) {
      std::vector<WeightsChoice>& each = costs.emplace_back();
      for (const KnownProgram& program : task.programs)
        each.push_back({program.bytes * task.sets, program.seconds * static_cast<double>(task.weight)});
    }
    std::vector<size_t> chosen = choose_within(costs, limit);
    bool all_compile = true;
    for (size_t i = 0; i < tasks.size(); ++i) {
      if (compiles(tasks[i].programs[chosen[i]], tasks[i].number)) continue;
      all_compile = false;
      tasks[i].programs.erase(tasks[i].programs.begin() + static_cast<std::ptrdiff_t>(chosen[i]));
    }
    if (all_compile) return chosen;
  }
}

std::string cost_note(const std::vector<TaskChoices>& tasks, const std::vector<size_t>& chosen,
                      const WeightsBudget& budget, double factor) {
  constexpr double kMegabyte = 1e6;
  int64_t before = 0;
  int64_t after = 0;
  double fast = 0;
  double slow = 0;
  size_t given_up = 0;
  bool is_recorded = true;
  for (size_t i = 0; i < tasks.size(); ++i) {
    const KnownProgram& first = tasks[i].programs.front();
    const KnownProgram& taken = tasks[i].programs[chosen[i]];
    before += first.bytes * tasks[i].sets;
    after += taken.bytes * tasks[i].sets;
    if (chosen[i] == 0) continue;
    ++given_up;
    is_recorded = is_recorded && first.is_recorded && taken.is_recorded;
    fast += first.seconds * static_cast<double>(tasks[i].weight);
    slow += taken.seconds * static_cast<double>(tasks[i].weight);
  }
  std::string text = fmt::format(
      "{:.1f} MB of weights are more than {:g} times the {:.1f} MB of the network's constants "
      "(--weights-limit)",
      static_cast<double>(before) / kMegabyte, factor, static_cast<double>(budget.constants()) / kMegabyte);
  if (given_up > 0) {
    text += fmt::format(
        ": with {} of {} tasks on smaller ones they are {:.1f} MB, and these tasks take {:.3f} ms of a run "
        "where they took {:.3f} ms{}",
        given_up, tasks.size(), static_cast<double>(after) / kMegabyte, slow * 1e3, fast * 1e3,
        is_recorded ? "" : ", by estimates");
  }
  if (after > budget.limit()) text += "; no known programs come within the limit";
  return text;
}

}  // namespace

WeightsBudget::WeightsBudget(const Network& network, double factor)
    : sets_(constant_sets(network)), constants_(constant_bytes(network)) {
  constexpr int64_t kAll = std::numeric_limits<int64_t>::max();
  const double limit = static_cast<double>(constants_) * factor;
  const bool is_limit = factor > 0 && limit < static_cast<double>(kAll);
  limit_ = is_limit ? std::max(static_cast<int64_t>(limit), kNegligibleBytes) : kAll;
}

int64_t WeightsBudget::bytes(const std::vector<CompiledTask>& compiled) const {
  int64_t all = 0;
  for (size_t i = 0; i < compiled.size(); ++i) all += weight_bytes(compiled[i].program) * sets_[i];
  return all;
}

Status limit_weights(const Network& network, const CompileModelOptions& options,
                     std::vector<CompiledTask>& compiled) {
  const WeightsBudget budget(network, options.weights_limit);
  if (budget.bytes(compiled) <= budget.limit()) return {};
  std::vector<TaskChoices> tasks;
  for (size_t i = 0; i < compiled.size(); ++i) {
    LATHE_TRY(TaskChoices choices,
              choices_of(std::move(compiled[i]), i, network.tasks.tasks[i], budget.sets(i), options.records));
    tasks.push_back(std::move(choices));
  }
  scale_estimates(tasks);
  const std::vector<size_t> chosen = choose_compiled(tasks, budget.limit());
  options.note(cost_note(tasks, chosen, budget, options.weights_limit));
  for (size_t i = 0; i < compiled.size(); ++i) {
    const std::optional<int64_t> record = tasks[i].programs.front().chosen.record;
    compiled[i] = std::move(*tasks[i].programs[chosen[i]].compiled);
    if (record && !compiled[i].record) compiled[i].goes_before_records = true;
  }
  return {};
}

}  // namespace lathe
