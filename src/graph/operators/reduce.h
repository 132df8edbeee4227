// Operators that combine all elements along some axes: reductions, softmax; and what other families that do
// so share with them.
#pragma once

#include "graph/operators/family.h"
#include "ops/axes.h"

namespace lathe {

enum class ReduceFunction : uint8_t {
  sum,
  mean,
  max,
  min,
  l1,
  l2,
  sum_square,
  product,
  log_sum,
  log_sum_exp
};

struct ReduceOp {
  static constexpr FusionRole kRole = FusionRole::anchor;
  static constexpr size_t kLeastOperands = 1;
  static constexpr size_t kMostOperands = 1;

  ReduceFunction function = ReduceFunction::sum;
  std::vector<size_t> axes;  // ascending
  bool keeps_axes = true;    // with one place each

  const char* name() const;  // as in ONNX
  bool operator==(const ReduceOp&) const = default;
};

// exp(x) over the sum of these along the axes, or its logarithm.
struct SoftmaxOp {
  static constexpr FusionRole kRole = FusionRole::anchor;
  static constexpr size_t kLeastOperands = 1;
  static constexpr size_t kMostOperands = 1;

  std::vector<size_t> axes;  // ascending
  bool logarithm = false;

  const char* name() const;
  bool operator==(const SoftmaxOp&) const = default;
};

std::string attributes_of(const ReduceOp& op);
std::string attributes_of(const SoftmaxOp& op);
Result<TensorType> infer(const ReduceOp& op, std::span<const TensorType> inputs);
Result<TensorType> infer(const SoftmaxOp& op, std::span<const TensorType> inputs);
Values evaluate(const ReduceOp& op, std::span<const Values> inputs);
Values evaluate(const SoftmaxOp& op, std::span<const Values> inputs);
Tensor lower(const ReduceOp& op, DagBuilder& builder, std::span<const Tensor> operands);
Tensor lower(const SoftmaxOp& op, DagBuilder& builder, std::span<const Tensor> operands);

// ONNX ReduceSum, ReduceMean ..; the axes are an attribute in older operator sets, then a constant.
Result<ReduceOp> import_reduce(OnnxNode& node, ReduceFunction function);
template <ReduceFunction function>
Result<ReduceOp> import_reduce_of(OnnxNode& node) {
  return import_reduce(node, function);
}
// ONNX GlobalMaxPool, and GlobalLpPool (of p 2, or sums of magnitudes): of [N, C, ..] along all axes but the
// first two.
Result<ReduceOp> import_global_max_pool(OnnxNode& node);
Result<ReduceOp> import_global_lp_pool(OnnxNode& node);
// ONNX Softmax, LogSoftmax: before operator set 13 along all axes from `axis` on.
Result<SoftmaxOp> import_softmax(OnnxNode& node);
Result<SoftmaxOp> import_log_softmax(OnnxNode& node);

// An Error unless the shape has these axes, ascending.
Status check_axes(const std::vector<size_t>& axes, const Shape& shape);
int64_t elements_along(const std::vector<size_t>& axes, const Shape& shape);
// The reduced axes stay with one place each.
Values reduce_values(const Values& x, const std::vector<size_t>& axes, ReduceFunction function);

// f(x, y) of each element of x and the one of y that broadcasts to it.
template <class Function>
Values zip_values(const Values& x, const Values& y, Function f) {
  Values result{x.shape, {}};
  Shape index(x.shape.size(), 0);
  size_t place = 0;
  do {
    result.data.push_back(f(x.data[place++], y.data[static_cast<size_t>(broadcast_offset(y.shape, index))]));
  } while (next_index(index, x.shape));
  return result;
}

// A reduction in the making: reduce axes in some of the operand's places.
struct Reducing {
  std::vector<Axis> result;  // the axes of the result
  std::vector<Axis> over;
  std::vector<Affine> operand;  // index of the operand, over both
  std::vector<Affine> reduced;  // index of the result from axes of the operand's shape

  Reducing() = default;
  Reducing(const std::vector<Axis>& axes, const std::vector<size_t>& reduced_axes, bool keeps);
};

}  // namespace lathe
