#include "artifact/fixed_size.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <variant>

#include "network/compare_sizes.h"

namespace lathe {
namespace {

bool spells_a_shape(const GraphOp& op) {
  return std::holds_alternative<ReshapeOp>(op) || std::holds_alternative<ExpandOp>(op) ||
         std::holds_alternative<SliceOp>(op) || std::holds_alternative<ResizeOp>(op) ||
         std::holds_alternative<TileOp>(op) || std::holds_alternative<GatherOp>(op);
}

bool is_uniform(const GraphTensor& constant) {
  const auto bytes = static_cast<size_t>(bytes_of(constant.type.dtype));
  return std::equal(constant.data->begin() + static_cast<std::ptrdiff_t>(bytes), constant.data->end(),
                    constant.data->begin());
}

// A node that reads other numbers, or does something else, where there is one place more; or where both are
// of the `same_size`, and numbers of another shape too.
std::optional<std::string> number_of_size(const Graph& network, const Graph& one_more, bool same_size) {
  std::map<std::string_view, const GraphNode*> twins;
  for (const GraphNode& node : one_more.nodes) twins.emplace(node.name, &node);
  for (const GraphNode& node : network.nodes) {
    const auto twin = twins.find(node.name);
    if (twin == twins.end() || twin->second->op.index() != node.op.index() ||
        twin->second->inputs.size() != node.inputs.size())
      continue;
    const std::string label = label_of(node);
    if (!spells_a_shape(node.op) && node.op != twin->second->op)
      return fmt::format("{}: it goes by the number of places", label);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const GraphTensor& read = network.tensor(node.inputs[i]);
      const GraphTensor& other = one_more.tensor(twin->second->inputs[i]);
      if (!read.is_constant() || !other.is_constant()) continue;
      if (read.type != other.type && (!same_size || is_uniform(other))) continue;
      if (read.data != other.data && *read.data != *other.data)
        return fmt::format("{}: it reads '{}', a number that goes by the number of places", label, read.name);
    }
  }
  return std::nullopt;
}

bool is_whole(const FollowedSize& followed) {
  return std::ranges::all_of(followed.graph.outputs, [&](TensorId output) {
    return std::ranges::all_of(followed.parts[output], &FreePart::is_whole_axis);
  });
}

bool gives_the_same(const FollowedSize& one, const FollowedSize& other) {
  if (one.is_apart() != other.is_apart()) return false;
  for (size_t i = 0; i < one.graph.outputs.size(); ++i)
    if (one.parts[one.graph.outputs[i]] != other.parts[other.graph.outputs[i]]) return false;
  return true;
}

}  // namespace

std::optional<std::string> contradiction(const Graph& followed, const Graph& read) {
  return number_of_size(followed, read, true);
}

FixedReading read_fixed_size(const Graph& network, std::span<const FreeInput> inputs, const Graph* one_more,
                             std::span<const FreeInput> inputs_of_one_more, int64_t fixed, int64_t size) {
  FixedReading reading;
  if (one_more != nullptr) reading.refusal = number_of_size(network, *one_more, false);
  if (reading.refusal || fixed != 1 || inputs.empty()) return reading;
  if (one_more != nullptr) {
    auto followed = follow_size(*one_more, inputs_of_one_more, size, {});
    if (!followed)
      followed = follow_size(*one_more, inputs_of_one_more, size, numbering_constants(*one_more, fixed + 1));
    reading.has_one_more = followed.has_value() && is_whole(*followed);
    if (reading.has_one_more) return reading;
  }
  const auto first = follow_size(network, inputs, size, {}, UnitPlaces::first);
  const auto last = follow_size(network, inputs, size, {}, UnitPlaces::last);
  if (!first && last) reading.units = UnitPlaces::last;
  if (first && last && !gives_the_same(*first, *last))
    reading.refusal =
        "its single place could be any of several axes of one place that reshapes add, and the file, which "
        "spells it, does not tell which";
  return reading;
}

}  // namespace lathe
