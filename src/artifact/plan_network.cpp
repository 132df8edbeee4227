#include "artifact/plan_network.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "graph/narrow_storage.h"
#include "graph/simplify.h"
#include "intrinsics/intrinsic.h"

namespace lathe {
namespace {

// Constants by what they hold.
class SharedConstants {
 public:
  void share(Graph& graph) {
    for (GraphTensor& tensor : graph.tensors) {
      if (!tensor.is_constant() || known_.contains(tensor.data.get())) continue;
      const std::string_view bytes(reinterpret_cast<const char*>(tensor.data->data()), tensor.data->size());
      auto& alike = by_hash_[hash_text(bytes)];
      const auto same = std::ranges::find_if(alike, [&](const auto& data) { return *data == *tensor.data; });
      if (same != alike.end()) {
        tensor.data = *same;
      } else {
        known_.insert(tensor.data.get());
        alike.push_back(tensor.data);
      }
    }
  }

 private:
  std::unordered_set<const Bytes*> known_;
  std::unordered_map<uint64_t, std::vector<std::shared_ptr<const Bytes>>> by_hash_;
};

// Whether the target has an instruction for products of two elements of that type.
bool has_products_of(const Target& target, DType factors) {
  return std::ranges::any_of(intrinsics(), [&](const Intrinsic& intrinsic) {
    return intrinsic.a == factors && intrinsic.b == factors && has_intrinsic(target, intrinsic);
  });
}

// Takes in the tasks of another plan; its uses then name those of `all`.
void add_tasks(NetworkTasks& all, NetworkTasks& plan, std::unordered_map<uint64_t, size_t>& known) {
  std::vector<size_t> numbers;
  for (WeightedTask& task : plan.tasks) {
    const auto [entry, is_new] = known.emplace(hash_of(task.task), all.tasks.size());
    if (is_new)
      all.tasks.push_back(std::move(task));
    else
      all.tasks[entry->second].weight += task.weight;
    numbers.push_back(entry->second);
  }
  for (TaskUse& use : plan.uses) use.task = numbers[use.task];
}

}  // namespace

Result<Network> plan_network(SizedGraphs read, const Target& target, std::optional<DType> precision) {
  Network network;
  network.free = std::move(read.free);
  SharedConstants constants;
  std::unordered_map<uint64_t, size_t> known;
  for (SizedGraph& sized : read.graphs) {
    Graph graph = simplify(sized.graph);
    sized.graph = {};
    if (precision) graph = narrow_storage(graph, {*precision, has_products_of(target, *precision)});
    if (read.graphs.size() > 1) constants.share(graph);
    LATHE_TRY(Partition cut, partition(graph));
    LATHE_TRY(NetworkTasks tasks, network_tasks(graph, cut, target));
    add_tasks(network.tasks, tasks, known);
    if (&sized == read.graphs.data()) {
      network.name = graph.name;
      network.graph = std::move(graph);
      network.partition = std::move(cut);
      network.tasks.uses = std::move(tasks.uses);
    } else {
      network.smaller.push_back(
          {std::move(sized.sizes), std::move(graph), std::move(cut), std::move(tasks.uses)});
    }
  }
  return network;
}

}  // namespace lathe
