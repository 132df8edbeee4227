#include "graph/onnx/constant_results.h"

#include <fmt/format.h>

#include <algorithm>

#include "graph/index_inputs.h"
#include "graph/onnx/empty.h"
#include "graph/reference.h"

namespace lathe {

Result<std::optional<OnnxConstant>> small_constant(const GraphBuilder& builder, const GraphNode& node,
                                                   const TensorType& type) {
  constexpr int64_t kMostReals = 16;
  int64_t most_others = int64_t{1} << 20;
  for (const TensorId id : node.inputs) {
    const GraphTensor& tensor = builder.tensor(id);
    if (!tensor.is_constant()) return std::nullopt;
    most_others = std::max(most_others, elements_of(tensor.type.shape));
  }
  LATHE_TRY_STATUS(check_shape(type.shape, fmt::format("the result of node '{}'", node.name)));
  if (elements_of(type.shape) > (is_float(type.dtype) ? kMostReals : most_others)) return std::nullopt;
  std::vector<const GraphTensor*> operands;
  for (const TensorId id : node.inputs) operands.push_back(&builder.tensor(id));
  std::shared_ptr<const Bytes> data = evaluate_constants(node, operands);
  if (data == nullptr) return std::nullopt;
  return OnnxConstant{type, std::move(data)};
}

Result<TensorType> type_given(const GraphBuilder& builder, const GraphNode& node) {
  std::vector<TensorType> types;
  for (const TensorId id : node.inputs) types.push_back(builder.tensor(id).type);
  if (const auto* slice = std::get_if<SliceOp>(&node.op); slice && has_no_elements(slice->extents))
    return TensorType{types[0].dtype, slice->extents};
  return infer_type(node, types);
}

Status check_constant_places(const GraphBuilder& builder, const GraphNode& node) {
  const std::optional<size_t> axis = looked_up_axis(node.op);
  if (!axis) return {};
  const GraphTensor& places = builder.tensor(node.inputs[1]);
  const Shape& shape = builder.tensor(node.inputs[0]).type.shape;
  if (!places.is_constant() || is_float(places.type.dtype) || *axis >= shape.size()) return {};
  return check_places(values_of(places), *axis, shape);
}

Result<OnnxConstant> constant_of_none(const GraphNode& node, const TensorType& type) {
  const std::optional<double> value = value_of_none(node.op);
  if (!value) return fail(ErrorKind::unsupported, "it gives elements of an operand that has none");
  LATHE_TRY_STATUS(check_shape(type.shape, fmt::format("the result of node '{}'", node.name)));
  // The largest of no truths is false.
  const double element = type.dtype == DType::boolean && *value < 0 ? 0 : *value;
  const std::vector<double> values(static_cast<size_t>(elements_of(type.shape)), element);
  return OnnxConstant{type, to_bytes(type.dtype, values)};
}

}  // namespace lathe
