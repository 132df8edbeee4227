#include "network/network_tasks.h"

#include <array>
#include <unordered_map>

namespace lathe {
namespace {

constexpr std::array<int, 4> kChannelsLast = {0, 2, 3, 1};

const Tensor& argument_tensor(const Dag& dag, size_t index) {
  return index < dag.inputs.size() ? dag.inputs[index] : dag.outputs[index - dag.inputs.size()];
}

// The tensors whose layout is not Lathe's to choose.
std::vector<bool> row_major_tensors(const Graph& graph, const Partition& partition) {
  std::vector<bool> row_major(graph.tensors.size());
  for (TensorId id = 0; id < graph.tensors.size(); ++id) {
    const GraphTensor& tensor = graph.tensors[id];
    row_major[id] = tensor.is_constant() || tensor.type.shape.size() != kChannelsLast.size();
  }
  for (TensorId id : graph.inputs) row_major[id] = true;
  for (TensorId id : partition.outputs) row_major[id] = true;
  // A view reads another shape's elements in row-major order.
  for (const TaskUse& use : partition.uses) {
    const Dag& dag = partition.tasks[use.task].dag;
    for (size_t i = 0; i < use.arguments.size(); ++i) {
      const TensorId id = use.arguments[i];
      if (argument_tensor(dag, i)->shape != graph.tensors[id].type.shape) row_major[id] = true;
    }
  }
  return row_major;
}

std::vector<Layout> layouts_of(const Graph& graph, const Partition& partition) {
  const std::vector<bool> row_major = row_major_tensors(graph, partition);
  std::vector<Layout> layouts;
  for (TensorId id = 0; id < graph.tensors.size(); ++id) {
    layouts.push_back(row_major[id] ? Layout::row_major(graph.tensors[id].type.shape.size())
                                    : Layout::permuted(kChannelsLast));
  }
  return layouts;
}

// Between two runs of one kernel all others read their constants: so many bytes are more than a core's share
// of the last-level cache of the processors that networks run on. No machine's own figure, which would give
// the tasks of one network other identities from one machine to the next.
constexpr int64_t kDisplacingBytes = 16 << 20;

bool runs_cold(const Graph& graph, const Partition& partition) {
  std::vector<bool> seen(graph.tensors.size());
  int64_t bytes = 0;
  for (const TaskUse& use : partition.uses) {
    for (const TensorId id : use.arguments) {
      if (seen[id] || !graph.tensors[id].is_constant()) continue;
      seen[id] = true;
      bytes += static_cast<int64_t>(graph.tensors[id].data->size());
    }
  }
  return bytes > kDisplacingBytes;
}

}  // namespace

Result<NetworkTasks> network_tasks(const Graph& graph, const Partition& partition, const Target& target) {
  NetworkTasks result{{}, {}, layouts_of(graph, partition)};
  const bool cold = runs_cold(graph, partition);
  std::unordered_map<uint64_t, size_t> known;
  for (const TaskUse& use : partition.uses) {
    const NetworkTask& origin = partition.tasks[use.task];
    LATHE_TRY(Task task, make_task(origin.name, origin.dag, target, origin.constants));
    task.runs_cold = cold;
    for (size_t i = 0; i < task.arguments.size(); ++i) {
      Argument& argument = task.arguments[i];
      const Layout& layout = result.layouts[use.arguments[i]];
      // A view's rank may be another one; its storage is row-major then.
      if (layout.dims.size() == argument.tensor->shape.size()) argument.layout = layout;
    }
    const auto [entry, is_new] = known.emplace(hash_of(task), result.tasks.size());
    if (is_new) result.tasks.push_back({std::move(task), 0});
    ++result.tasks[entry->second].weight;
    result.uses.push_back({entry->second, use.name, use.arguments});
  }
  return result;
}

}  // namespace lathe
