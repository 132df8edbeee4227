#include "artifact/compile_model.h"

#include "graph/simplify.h"
#include "tune/choose_trace.h"

namespace lathe {
namespace {

Result<CompiledTask> compile_best(const Task& task, const RecordStore* records, size_t number) {
  Result<ChosenTrace> chosen = choose_trace(task, records);
  Result<CompiledTask> compiled = chosen ? compile_task(chosen->task, chosen->trace, chosen->record, number)
                                         : std::unexpected(std::move(chosen.error()));
  if (!compiled && compiled.error().where.empty()) compiled.error().where = task.name;
  return compiled;
}

}  // namespace

Result<Model> compile_operator(const Workload& workload, const CompileModelOptions& options) {
  LATHE_TRY(const Task task, make_task(workload, options.target, options.cores, false));
  LATHE_TRY(CompiledTask compiled, compile_best(task, options.records, 0));
  options.progress(1, 1);
  return operator_model(workload.name, std::move(compiled));
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
  for (const LaidOutTask& weighted : network.tasks.tasks) {
    LATHE_TRY(CompiledTask task, compile_best(weighted.task, options.records, compiled.size()));
    compiled.push_back(std::move(task));
    options.progress(compiled.size(), network.tasks.tasks.size());
  }
  return network_model(network.graph, network.partition, network.tasks, std::move(compiled));
}

}  // namespace lathe
