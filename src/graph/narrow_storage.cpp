#include "graph/narrow_storage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "graph/simplify.h"
#include "graph/stored_types.h"

namespace lathe {
namespace {

// Smaller tables of Gather are no part of what a network weighs, and often hold places or factors.
constexpr int64_t kLeastTable = 4096;

// Depthwise convolutions are none: their weights are few, and each is a factor of the results of one map.
bool is_product(const Graph& graph, const GraphNode& node) {
  const auto* conv = std::get_if<ConvOp>(&node.op);
  if (conv != nullptr && conv->groups > 1 && graph.tensors[node.inputs[1]].type.shape[1] == 1) return false;
  return takes_stored_factors(node.op) ||
         (std::holds_alternative<EinsumOp>(node.op) && node.inputs.size() == 2);
}

bool is_gather(const GraphOp& op) {
  return std::holds_alternative<GatherOp>(op) || std::holds_alternative<GatherByOp>(op) ||
         std::holds_alternative<GatherElementsOp>(op);
}

// Those of a constant of f32.
float float_at(const Bytes& bytes, size_t i) {
  float value;
  std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
  return value;
}

std::shared_ptr<const Bytes> rounded(const Bytes& values, DType dtype) {
  const size_t count = values.size() / sizeof(float);
  auto bytes = std::make_shared<Bytes>(count * static_cast<size_t>(bytes_of(dtype)));
  visit_storage(dtype, [&]<class Stored>(std::type_identity<Stored>) {
    for (size_t i = 0; i < count; ++i) {
      const auto element = element_of<Stored>(float_at(values, i));
      std::memcpy(bytes->data() + i * sizeof element, &element, sizeof element);
    }
  });
  return bytes;
}

class Narrowing {
 public:
  Narrowing(const Graph& graph, const NarrowStorage& storage)
      : graph_(graph),
        storage_(storage),
        result_(graph),
        producers_(producers_of(graph)),
        is_narrow_(graph.tensors.size(), false),
        is_at_border_(graph.tensors.size(), false) {
    for (const GraphTensor& tensor : graph.tensors) names_.insert(tensor.name);
    for (const GraphNode& node : graph.nodes) {
      if (role_of(node.op) != FusionRole::border) continue;
      is_at_border_[node.output] = true;
      for (const TensorId id : node.inputs) is_at_border_[id] = true;
    }
    result_.nodes.clear();
  }

  Graph run() {
    for (const GraphNode& node : graph_.nodes) choose(node);
    if (storage_.activations) spread();
    for (const GraphNode& node : graph_.nodes) rewrite(node);
    return remove_dead(result_);
  }

 private:
  bool is_wide(TensorId id) const {
    return graph_.tensors[id].type.dtype == info_of(storage_.dtype).computed_in;
  }

  void choose(const GraphNode& node) {
    const size_t factors = is_product(graph_, node) ? 2 : is_gather(node.op) ? 1 : 0;
    for (size_t i = 0; i < factors; ++i) {
      const TensorId id = node.inputs[i];
      if (!is_wide(id) || is_at_border_[id]) continue;
      const GraphTensor& tensor = graph_.tensors[id];
      const bool is_table = is_gather(node.op) && elements_of(tensor.type.shape) < kLeastTable;
      const bool is_data = storage_.activations && takes_stored_factors(node.op);
      if (tensor.is_constant() ? !is_table && may_be_narrow(id) : is_data) is_narrow_[id] = true;
    }
  }

  // Whether all numbers of a constant are finite in the type, or are not in f32 either.
  bool may_be_narrow(TensorId id) {
    const GraphTensor& tensor = graph_.tensors[id];
    const double most = largest_of(storage_.dtype);
    bool fits = true;
    for (size_t i = 0; fits && i < tensor.data->size() / sizeof(float); ++i) {
      const float value = float_at(*tensor.data, i);
      fits = std::abs(value) <= most || !std::isfinite(value);
    }
    if (fits) return true;
    if (refused_.insert(id).second)
      result_.notes.push_back(
          fmt::format("constant '{}' holds numbers beyond those of {}, and is kept as it is", tensor.name,
                      to_string(storage_.dtype)));
    return false;
  }

  // What only moves elements of a narrow tensor, or gives its elements, is narrow too: until nothing changes.
  void spread() {
    bool changed = true;
    const auto mark = [&](TensorId id) {
      if (is_narrow_[id] || !is_wide(id) || is_at_border_[id]) return;
      if (graph_.tensors[id].is_constant() && !may_be_narrow(id)) return;
      is_narrow_[id] = changed = true;
    };
    const auto is_marked = [&](TensorId id) { return is_narrow_[id]; };
    while (changed) {
      changed = false;
      for (const GraphNode& node : graph_.nodes) {
        if (!keeps_stored_type(node.op) || !is_wide(node.output) || is_from_outside(node)) continue;
        if (!is_narrow_[node.output] && std::ranges::none_of(node.inputs, is_marked)) continue;
        mark(node.output);
        std::ranges::for_each(node.inputs, mark);
      }
    }
  }

  // Whether it moves elements of constants or inputs of the model alone, which nothing narrows before it.
  bool is_from_outside(const GraphNode& node) const {
    return std::ranges::all_of(node.inputs, [&](TensorId id) { return producers_[id] < 0; });
  }

  std::string fresh(const std::string& base) {
    const std::string wanted = fmt::format("{}.{}", base, to_string(storage_.dtype));
    std::string name = wanted;
    for (int n = 1; !names_.insert(name).second; ++n) name = fmt::format("{}{}", wanted, n);
    return name;
  }

  TensorId add_tensor(TensorId wide, std::shared_ptr<const Bytes> data) {
    const GraphTensor& tensor = graph_.tensors[wide];
    result_.tensors.push_back({fresh(tensor.name), {storage_.dtype, tensor.type.shape}, std::move(data)});
    return narrow_of_[wide] = result_.tensors.size() - 1;
  }

  // The narrow tensor of one that is to be, made where it is not there yet: of constants and inputs.
  TensorId narrow(TensorId wide) {
    if (const auto known = narrow_of_.find(wide); known != narrow_of_.end()) return known->second;
    const GraphTensor& tensor = graph_.tensors[wide];
    if (!tensor.is_constant()) return add_cast(wide);
    // Views of a constant share its data.
    std::shared_ptr<const Bytes>& data = rounded_[tensor.data.get()];
    if (data == nullptr) data = rounded(*tensor.data, storage_.dtype);
    return add_tensor(wide, data);
  }

  TensorId add_cast(TensorId wide) {
    const TensorId id = add_tensor(wide, nullptr);
    result_.nodes.push_back({result_.tensors[id].name, CastOp{storage_.dtype}, {wide}, id});
    return id;
  }

  void rewrite(const GraphNode& node) {
    GraphNode changed = node;
    const bool keeps = keeps_stored_type(node.op);
    if (keeps && !reads_narrow_alone(node)) {
      result_.nodes.push_back(node);
      if (is_narrow_[node.output]) add_cast(node.output);
      return;
    }
    for (TensorId& id : changed.inputs)
      if (is_narrow_[id] && (is_product(graph_, node) || keeps || !is_given(id))) id = narrow(id);
    if (!keeps || changed.inputs == node.inputs) {
      result_.nodes.push_back(std::move(changed));
      if (is_narrow_[node.output]) add_cast(node.output);
      return;
    }
    const TensorId moved = add_tensor(node.output, nullptr);
    changed.output = moved;
    result_.nodes.push_back(std::move(changed));
    if (is_narrow_[node.output] && !is_output(graph_, node.output)) return;
    const DType wide = graph_.tensors[node.output].type.dtype;
    result_.nodes.push_back({result_.tensors[moved].name, CastOp{wide}, {moved}, node.output});
  }

  bool is_given(TensorId id) const { return producers_[id] < 0 && !graph_.tensors[id].is_constant(); }

  // Whether all elements that a node moves are narrow; of an input of the model where the result is to be.
  bool reads_narrow_alone(const GraphNode& node) const {
    return std::ranges::all_of(node.inputs, [&](TensorId id) {
      return !is_wide(id) || (is_narrow_[id] && (!is_given(id) || is_narrow_[node.output]));
    });
  }

  const Graph& graph_;
  NarrowStorage storage_;
  Graph result_;
  std::vector<int> producers_;
  std::vector<bool> is_narrow_;             // of the graph's tensors: those that are to be
  std::vector<bool> is_at_border_;          // of a loop, whose states and steps keep their type
  std::map<TensorId, TensorId> narrow_of_;  // theirs in `result_`, once they are there
  std::map<const Bytes*, std::shared_ptr<const Bytes>> rounded_;
  std::set<TensorId> refused_;
  std::set<std::string> names_;
};

}  // namespace

Graph narrow_storage(const Graph& graph, const NarrowStorage& storage) {
  return Narrowing(graph, storage).run();
}

}  // namespace lathe
