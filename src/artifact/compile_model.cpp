#include "artifact/compile_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "artifact/check_program.h"
#include "artifact/compile_tasks.h"
#include "artifact/network_model.h"
#include "artifact/plan_network.h"
#include "artifact/race_programs.h"
#include "artifact/right_program.h"
#include "artifact/share_packing.h"
#include "measure/time_bounds.h"
#include "records/within.h"
#include "target/detect.h"
#include "tune/choose_trace.h"
#include "tune/exact_specials.h"

namespace lathe {
namespace {

// The program that is right, compiled.
Result<CompiledTask> compile_best(const Task& task, const CompileModelOptions& options,
                                  FreeLayouts free_layouts) {
  std::vector<int64_t> wrong;
  LATHE_TRY(CompiledTask first, first_program(task, options, free_layouts, 0, wrong));
  return right_program(task, std::move(first), options, free_layouts, 0, std::move(wrong));
}

// What it takes to find the fastest of some programs: each is compiled, and timed some times in two places.
double race_seconds(const Task& task) {
  constexpr double kLeast = 0.65;
  constexpr double kRuns = 8;           // of two: both first, and one turn, in each place
  constexpr double kUsualSlowness = 2;  // beside the fastest that could be
  return kLeast + kRuns * kUsualSlowness * fastest_seconds(task);
}

// What cannot be held in memory is found out before hours of compiling.
Status check_fits(const Graph& graph, const std::string& path) {
  double bytes = 0;
  const GraphTensor* largest = nullptr;
  double most = 0;
  for (const std::vector<TensorId>& ids : {graph.inputs, graph.outputs}) {
    for (const TensorId id : ids) {
      const GraphTensor& tensor = graph.tensor(id);
      double own = bytes_of(tensor.type.dtype);
      for (const int64_t extent : tensor.type.shape) own *= static_cast<double>(extent);
      bytes += own;
      if (own <= most) continue;
      most = own;
      largest = &tensor;
    }
  }
  const auto memory = static_cast<double>(memory_bytes());
  if (bytes <= memory || largest == nullptr) return {};
  return fail(
      ErrorKind::unsupported,
      fmt::format("the inputs and outputs take {:.0f} GB, '{}' of {} alone {:.0f}, and this machine has "
                  "{:.0f} GB of memory",
                  bytes * 1e-9, largest->name, to_string(largest->type.shape), most * 1e-9, memory * 1e-9),
      path);
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
  LATHE_TRY(const Trace trace, untuned->trace);
  Result<CompiledTask> compiled = compile_task(untuned->task, trace, untuned->record, 0);
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
  LATHE_TRY(CompiledTask free, compile_best(task, options, FreeLayouts::first));
  if (has_free_layouts(free.task)) {
    Result<CompiledTask> fixed = compile_best(task, options, FreeLayouts::never);
    // A program without a record would be run here for the first time (--check none), where nothing guards
    // against what it does wrong.
    if (fixed && (fixed->record || fixed->checked != Checked::none)) {
      fixed->goes_before_records = free.record && !fixed->record;
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
  LATHE_TRY(CompiledTask compiled,
            !may_race ? compile_best(task, options, FreeLayouts::if_faster) : compile_fastest(task, options));
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
  LATHE_TRY_STATUS(check_fits(read.graphs.front().graph, path));
  LATHE_TRY(Network network, plan_network(std::move(read), target, precision));
  network.name = std::filesystem::path(path).stem().string();
  if (!exact_specials) return network;
  for (WeightedTask& weighted : network.tasks.tasks) {
    LATHE_TRY(weighted.task, with_exact_specials(std::move(weighted.task)));
  }
  return network;
}

Result<std::vector<CompiledTask>> compile_programs(const Network& network,
                                                   const CompileModelOptions& options) {
  LATHE_TRY_STATUS(check_has_artifacts(options.target));
  LATHE_TRY(std::vector<CompiledTask> compiled, compile_tasks(network, options));
  LATHE_TRY_STATUS(share_packing(network, options, compiled));
  return compiled;
}

Result<Model> compile_network(const Network& network, const CompileModelOptions& options) {
  LATHE_TRY(std::vector<CompiledTask> compiled, compile_programs(network, options));
  return network_model(network, std::move(compiled));
}

}  // namespace lathe
