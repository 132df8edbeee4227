// Where the activations of a network lie (network/partition.h).
#include <optional>

#include "network/liveness.h"
#include "network/partition.h"

namespace lathe {

ActivationPlan plan_activations(const Graph& graph, const Partition& partition) {
  std::vector<bool> elsewhere(graph.tensors.size(), false);
  for (TensorId id = 0; id < graph.tensors.size(); ++id) elsewhere[id] = graph.tensors[id].is_constant();
  for (TensorId id : graph.inputs) elsewhere[id] = true;
  for (TensorId id : partition.outputs) elsewhere[id] = true;

  std::vector<TensorId> tensors;
  std::vector<BufferLife> lives;
  std::vector<std::optional<size_t>> place(graph.tensors.size());
  for (size_t step = 0; step < partition.uses.size(); ++step) {
    for (TensorId id : partition.uses[step].arguments) {
      if (elsewhere[id]) continue;
      if (!place[id]) {
        place[id] = lives.size();
        tensors.push_back(id);
        lives.push_back({bytes_of(graph.tensors[id].type), step, step});
      }
      lives[*place[id]].last = step;
    }
  }
  const ArenaPlan arena = plan_arena(lives);
  ActivationPlan plan{std::vector<int64_t>(graph.tensors.size(), -1), arena.bytes};
  for (size_t i = 0; i < tensors.size(); ++i) plan.offsets[tensors[i]] = arena.offsets[i];
  return plan;
}

}  // namespace lathe
