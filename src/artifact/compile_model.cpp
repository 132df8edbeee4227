#include "artifact/compile_model.h"

#include <fmt/format.h>

#include "graph/simplify.h"
#include "records/within.h"
#include "tune/choose_trace.h"
#include "tune/problem.h"

namespace lathe {
namespace {

// Why the program must not be used, as far as it was run. Notes where it could not be compared.
Result<std::optional<MeasureFailure>> failure_of(CompiledTask& compiled, const CompileModelOptions& options) {
  const bool is_confirmed = compiled.record && options.confirmed.contains(*compiled.record);
  if (options.runner == nullptr || is_confirmed) return std::nullopt;
  ProblemOptions checks;
  checks.tolerance = options.tolerance;
  Result<Problem> problem = Problem::create(compiled.task, checks);
  if (!problem && problem.error().kind == ErrorKind::unsupported) {
    compiled.uncompared = problem.error().message;
    return std::nullopt;
  }
  if (!problem) return std::unexpected(problem.error());
  LATHE_TRY(const FullCheck check,
            problem->check_in_full(compiled.program, compiled.trace, compiled.module, *options.runner));
  return check.failure;
}

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

Result<CompiledTask> compile_right(const Task& task, const CompileModelOptions& options,
                                   FreeLayouts free_layouts, size_t number) {
  std::vector<int64_t> wrong;
  LATHE_TRY(ChosenTrace chosen, choose_trace(task, options.records, free_layouts));
  for (;;) {
    Result<CompiledTask> compiled = compile_chosen(chosen, number);
    std::optional<MeasureFailure> failure;
    if (compiled) {
      LATHE_TRY(failure, failure_of(*compiled, options));
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
  return within(task.name, compile_right(task, options, free_layouts, number));
}

}  // namespace

Result<Model> compile_operator(const Workload& workload, const CompileModelOptions& options) {
  LATHE_TRY(const Task task,
            within(workload.name, make_task(workload, options.target, options.cores, false)));
  LATHE_TRY(CompiledTask compiled, compile_best(task, options, options.free_layouts, 0));
  options.progress(1, 1);
  return operator_model(workload.name, task, std::move(compiled));
}

Result<Network> load_network(const std::string& path, const OnnxImportOptions& import, const Target& target,
                             int cores) {
  LATHE_TRY(const Graph graph, import_onnx(path, import));
  Network network{simplify(graph), {}, {}};
  LATHE_TRY(network.partition, partition(network.graph));
  LATHE_TRY(network.tasks, network_tasks(network.graph, network.partition, target, cores));
  return network;
}

Result<Model> compile_network(const Network& network, const CompileModelOptions& options) {
  std::vector<CompiledTask> compiled;
  for (const WeightedTask& weighted : network.tasks.tasks) {
    LATHE_TRY(CompiledTask task, compile_best(weighted.task, options, FreeLayouts::never, compiled.size()));
    compiled.push_back(std::move(task));
    options.progress(compiled.size(), network.tasks.tasks.size());
  }
  return network_model(network.graph, network.partition, network.tasks, std::move(compiled));
}

}  // namespace lathe
