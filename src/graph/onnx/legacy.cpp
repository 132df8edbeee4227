#include "graph/onnx/legacy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "graph/onnx/node_types.h"
#include "graph/onnx/proto.h"

namespace lathe {

namespace {

constexpr auto kBroadcasting = std::to_array<std::string_view>(
    {"Add", "And", "Div", "Equal", "Greater", "Less", "Mul", "Or", "Pow", "Sub", "Xor"});

// The value of an integer attribute, which the node has no longer; none where it is not there.
std::optional<int64_t> take_integer(onnx::NodeProto& node, std::string_view name) {
  auto& attributes = *node.mutable_attribute();
  const auto found = std::ranges::find_if(attributes, [&](const auto& each) { return each.name() == name; });
  if (found == attributes.end()) return std::nullopt;
  const int64_t value = found->i();
  attributes.erase(found);
  return value;
}

// The node after one that gives its second operand axes of one place, so that its first axis stands at `axis`
// of the first operand.
std::vector<onnx::NodeProto> aligned(const onnx::NodeProto& node, size_t axis, const Shape& first,
                                     const Shape& second) {
  onnx::NodeProto unsqueeze;
  unsqueeze.set_op_type("Unsqueeze");
  unsqueeze.set_name(fmt::format("{}#aligned", node.name()));
  unsqueeze.add_input(node.input(1));
  unsqueeze.add_output(fmt::format("{}#aligned", name_of_node(node)));
  onnx::AttributeProto& axes = *unsqueeze.add_attribute();
  axes.set_name("axes");
  axes.set_type(onnx::AttributeProto_AttributeType_INTS);
  for (size_t d = axis + second.size(); d < first.size(); ++d) axes.add_ints(static_cast<int64_t>(d - axis));
  onnx::NodeProto last = node;
  last.set_input(1, unsqueeze.output(0));
  return {std::move(unsqueeze), std::move(last)};
}

Result<std::vector<onnx::NodeProto>> broadcasting(onnx::NodeProto node, const Shape& first,
                                                  const Shape& second) {
  const bool broadcasts = take_integer(node, "broadcast").value_or(0) != 0;
  const std::optional<int64_t> axis = take_integer(node, "axis");
  if (!broadcasts && first != second) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("its operands have the shapes {} and {}, and it does not say that it broadcasts",
                            to_string(first), to_string(second)));
  }
  if (!broadcasts || !axis) return std::vector{std::move(node)};
  const auto rank = static_cast<int64_t>(first.size());
  const int64_t begin = *axis < 0 ? *axis + rank : *axis;
  if (begin < 0 || begin > rank - static_cast<int64_t>(second.size())) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("attribute 'axis' is {}, and {} does not lie in {} from there on", *axis,
                            to_string(second), to_string(first)));
  }
  if (begin + static_cast<int64_t>(second.size()) == rank) return std::vector{std::move(node)};
  return aligned(node, static_cast<size_t>(begin), first, second);
}

// A mean, a variance or a mask is computed unless the node says that it is not.
Status refuse_training(onnx::NodeProto& node) {
  if (take_integer(node, "is_test").value_or(0) != 0) return {};
  return fail(ErrorKind::unsupported, "it is in training mode, and Lathe supports inference");
}

}  // namespace

Result<std::vector<onnx::NodeProto>> from_legacy(const onnx::NodeProto& node, const ShapeOf& shape_of) {
  const std::string& type = node.op_type();
  onnx::NodeProto changed = node;
  if (type == "BatchNormalization" || type == "Dropout") LATHE_TRY_STATUS(refuse_training(changed));
  if (type == "Gemm") take_integer(changed, "broadcast");
  const Shape* const first = node.input_size() == 2 ? shape_of(node.input(0)) : nullptr;
  const Shape* const second = first != nullptr ? shape_of(node.input(1)) : nullptr;
  if (second == nullptr) return std::vector{std::move(changed)};
  if (std::ranges::find(kBroadcasting, type) != kBroadcasting.end())
    return broadcasting(std::move(changed), *first, *second);
  // One slope, or one for each channel.
  const bool has_slopes = type == "PRelu" && second->size() == 1 && first->size() > 2;
  if (has_slopes && second->front() != 1) return aligned(changed, 1, *first, *second);
  return std::vector{std::move(changed)};
}

}  // namespace lathe
