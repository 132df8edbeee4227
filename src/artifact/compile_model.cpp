#include "artifact/compile_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <future>

#include "artifact/check_program.h"
#include "artifact/limit_weights.h"
#include "artifact/network_model.h"
#include "artifact/plan_network.h"
#include "artifact/race_programs.h"
#include "artifact/share_packing.h"
#include "base/memory.h"
#include "measure/time_bounds.h"
#include "records/within.h"
#include "target/detect.h"
#include "tune/choose_trace.h"
#include "tune/exact_specials.h"

namespace lathe {
namespace {

std::string rejection(const std::string& task, const ChosenTrace& chosen, const RecordStore* records,
                      const MeasureFailure& failure) {
  const std::string program =
      chosen.record ? fmt::format("the program of record {} of {}", *chosen.record, records->path())
                    : "the program of trial 0";
  return fmt::format("{}: {} is not used, {}: {}", task, program, to_string(failure.kind), failure.message);
}

Result<CompiledTask> compile_chosen(const ChosenTrace& chosen, size_t number) {
  LATHE_TRY(const Trace trace, chosen.trace);
  return compile_task(chosen.task, trace, chosen.record, number);
}

// The program that is taken first, compiled.
struct FirstChoice {
  ChosenTrace chosen;
  Result<CompiledTask> compiled;
};
Result<FirstChoice> first_choice(const Task& task, const CompileModelOptions& options,
                                 FreeLayouts free_layouts, size_t number) {
  LATHE_TRY(ChosenTrace chosen, choose_trace(task, options.records, free_layouts));
  Result<CompiledTask> compiled = compile_chosen(chosen, number);
  return FirstChoice{std::move(chosen), std::move(compiled)};
}

Result<CompiledTask> compile_right(const Task& task, Result<FirstChoice> first,
                                   const CompileModelOptions& options, FreeLayouts free_layouts,
                                   size_t number) {
  if (!first) return std::unexpected(std::move(first.error()));
  std::vector<int64_t> wrong;
  ChosenTrace chosen = std::move(first->chosen);
  std::optional<Result<CompiledTask>> ready = std::move(first->compiled);
  for (;;) {
    Result<CompiledTask> compiled = ready ? std::move(*ready) : compile_chosen(chosen, number);
    ready.reset();
    std::optional<MeasureFailure> failure;
    if (compiled) {
      LATHE_TRY(failure, check_program(*compiled, options));
    } else if (chosen.record) {
      failure = MeasureFailure{compiled.error().kind, compiled.error().to_string()};
    }
    if (!failure) return compiled;
    LATHE_TRY(Trace naive, naive_trace(task));
    if (!chosen.record && *chosen.trace == naive) {
      return fail(failure->kind, fmt::format("no program of it is right: {}", failure->message));
    }
    options.rejected(rejection(task.name, chosen, options.records, *failure));
    if (chosen.record) {
      wrong.push_back(*chosen.record);
      LATHE_TRY(chosen, choose_trace(task, options.records, free_layouts, wrong));
    } else {
      chosen = ChosenTrace{task, std::move(naive), std::nullopt};
    }
  }
}

Result<CompiledTask> compile_best(const Task& task, const CompileModelOptions& options,
                                  FreeLayouts free_layouts, size_t number) {
  return within(task.name, within_memory([&] {
                  return compile_right(task, first_choice(task, options, free_layouts, number), options,
                                       free_layouts, number);
                }));
}

// Each task of a network compiled by a thread of its own while the one before it is compared with its
// reference, where the process has another cpu for that: the two take about as long as each other. Without a
// runner nothing is compared, and with records both would read their file.
class TasksAhead {
 public:
  TasksAhead(const std::vector<WeightedTask>& tasks, const CompileModelOptions& options)
      : tasks_(tasks),
        options_(options),
        policy_(options.runner != nullptr && options.records == nullptr && allowed_cpus().size() > 1
                    ? std::launch::async
                    : std::launch::deferred) {
    begin();
  }

  // The next one, in their order.
  Result<CompiledTask> take() {
    Result<FirstChoice> first = next_.get();
    const size_t number = begun_ - 1;
    begin();
    const Task& task = tasks_[number].task;
    return within(task.name, within_memory([&] {
                    return compile_right(task, std::move(first), options_, FreeLayouts::never, number);
                  }));
  }

 private:
  void begin() {
    if (begun_ == tasks_.size()) return;
    next_ = std::async(policy_, [this, number = begun_] {
      const Task& task = tasks_[number].task;
      return within_memory([&] { return first_choice(task, options_, FreeLayouts::never, number); });
    });
    ++begun_;
  }

  const std::vector<WeightedTask>& tasks_;
  const CompileModelOptions& options_;
  std::launch policy_;
  std::future<Result<FirstChoice>> next_;
  size_t begun_ = 0;
};

// What it takes to find the fastest of some programs: each is compiled, and timed some times in two places.
double race_seconds(const Task& task) {
  constexpr double kLeast = 0.65;
  constexpr double kRuns = 8;           // of two: both first, and one turn, in each place
  constexpr double kUsualSlowness = 2;  // beside the fastest that could be
  return kLeast + kRuns * kUsualSlowness * fastest_seconds(task);
}

bool has_free_layouts(const Task& task) {
  return std::ranges::any_of(task.arguments, &Argument::layout_is_free);
}

// The untuned program where its record is close to the best one's; none where it is not right.
Result<std::optional<CompiledTask>> compile_close_untuned(const Task& task,
                                                          const CompileModelOptions& options) {
  if (options.records == nullptr) return std::nullopt;
  LATHE_TRY(const std::optional<ChosenTrace> untuned, close_untuned(task, *options.records));
  if (!untuned) return std::nullopt;
  Result<CompiledTask> compiled = compile_chosen(*untuned, 0);
  if (!compiled) return std::nullopt;
  LATHE_TRY(const auto failure, check_program(*compiled, options));
  if (failure) return std::nullopt;
  return std::move(*compiled);
}

// What a caller may be given, no two of them alike: the untuned program, the best one for tensors as they
// are, the best with layouts of its own.
Result<std::vector<CompiledTask>> contenders(const Task& task, const CompileModelOptions& options) {
  std::vector<CompiledTask> programs;
  const auto add = [&](CompiledTask program) {
    const auto is_same = [&](const CompiledTask& other) {
      return other.module.object == program.module.object;
    };
    if (std::ranges::none_of(programs, is_same)) programs.push_back(std::move(program));
  };
  LATHE_TRY(auto untuned, compile_close_untuned(task, options));
  if (untuned) add(std::move(*untuned));
  LATHE_TRY(CompiledTask free, compile_best(task, options, FreeLayouts::first, 0));
  if (has_free_layouts(free.task)) {
    Result<CompiledTask> fixed = compile_best(task, options, FreeLayouts::never, 0);
    // A program without a record would be run here for the first time (--check none), where nothing guards
    // against what it does wrong.
    if (fixed && (fixed->record || fixed->checked != Checked::none)) {
      fixed->outran_records = free.record && !fixed->record;
      add(std::move(*fixed));
    }
  }
  add(std::move(free));
  return programs;
}

// For a caller that converts.
Result<CompiledTask> compile_fastest(const Task& task, const CompileModelOptions& options) {
  LATHE_TRY(std::vector<CompiledTask> programs, contenders(task, options));
  if (programs.size() == 1) return std::move(programs.front());
  if (options.watch.observer)
    options.watch.observer(
        {fmt::format("{}: {} programs race", task.name, programs.size()), 0, race_seconds(task)});
  LATHE_TRY(const auto seconds, within(task.name, race_programs(programs, options.watch.deadline)));
  if (seconds) {
    const auto fastest = static_cast<size_t>(std::ranges::min_element(*seconds) - seconds->begin());
    const bool is_clear = is_clearly_faster((*seconds)[fastest], seconds->front());
    return std::move(programs[is_clear ? fastest : 0]);
  }
  LATHE_TRY(const ChosenTrace estimated, choose_trace(task, options.records, FreeLayouts::if_faster));
  const size_t last = programs.size() - 1;
  const bool is_free = has_free_layouts(programs[last].task);
  return std::move(programs[has_free_layouts(estimated.task) || !is_free ? last : last - 1]);
}

}  // namespace

Status check_has_artifacts(const Target& target) {
  if (std::holds_alternative<CpuTarget>(target.kind)) return {};
  return fail(
      ErrorKind::unsupported,
      fmt::format("an artifact holds programs of processors, and the target '{}' is none", target.name));
}

Result<Model> compile_operator(const Workload& workload, const CompileModelOptions& options) {
  LATHE_TRY_STATUS(check_has_artifacts(options.target));
  LATHE_TRY(Task task, within(workload.name, make_task(workload, options.target, false)));
  if (options.exact_specials) {
    LATHE_TRY(task, within(workload.name, with_exact_specials(std::move(task))));
  }
  const bool may_race =
      options.runner != nullptr && race_seconds(task) < options.watch.deadline.seconds_left();
  LATHE_TRY(CompiledTask compiled, !may_race ? compile_best(task, options, FreeLayouts::if_faster, 0)
                                             : compile_fastest(task, options));
  options.progress(1, 1);
  return operator_model(workload.name, workload.op, task, std::move(compiled));
}

Result<Network> load_network(const std::string& path, const OnnxImportOptions& import, const Target& target,
                             bool exact_specials, const SizeChoices& sizes, std::optional<DType> precision) {
  SizedGraphs read;
  if (sizes.empty()) {
    LATHE_TRY(Graph graph, import_onnx(path, import));
    read.graphs.push_back({{}, std::move(graph)});
  } else {
    LATHE_TRY(read, sized_graphs(path, import, sizes));
  }
  LATHE_TRY(Network network, plan_network(std::move(read), target, precision));
  network.name = std::filesystem::path(path).stem().string();
  if (!exact_specials) return network;
  for (WeightedTask& weighted : network.tasks.tasks) {
    LATHE_TRY(weighted.task, with_exact_specials(std::move(weighted.task)));
  }
  return network;
}

Result<Model> compile_network(const Network& network, const CompileModelOptions& options) {
  LATHE_TRY_STATUS(check_has_artifacts(options.target));
  std::vector<CompiledTask> compiled;
  TasksAhead ahead(network.tasks.tasks, options);
  while (compiled.size() < network.tasks.tasks.size()) {
    LATHE_TRY(CompiledTask task, ahead.take());
    compiled.push_back(std::move(task));
    options.progress(compiled.size(), network.tasks.tasks.size());
  }
  LATHE_TRY_STATUS(limit_weights(network, options, compiled));
  LATHE_TRY_STATUS(share_packing(network, options, compiled));
  return network_model(network, std::move(compiled));
}

}  // namespace lathe
