#include "graph/operators/top_threshold.h"

#include <fmt/format.h>

#include <limits>

#include "ops/axes.h"

namespace lathe {
namespace {

constexpr size_t kKeys = 0, kThreshold = 1, kBit = 2;

}  // namespace

std::string attributes_of(const TopThresholdOp& op) {
  return fmt::format("axis {}, {} largest", op.axis, op.count);
}

Result<TensorType> infer(const TopThresholdOp& op, std::span<const TensorType> inputs) {
  const TensorType& keys = inputs[kKeys];
  LATHE_TRY_STATUS(
      require_type(keys, kKeys, keys.dtype == DType::i32 || keys.dtype == DType::i64, "i32 and i64"));
  LATHE_TRY_STATUS(require_one_type(inputs));
  if (op.axis >= keys.shape.size())
    return fail(ErrorKind::invalid_argument,
                fmt::format("{} has no axis {}", to_string(keys.shape), op.axis));
  // Keys are counted as i32.
  const int64_t extent = keys.shape[op.axis];
  if (constexpr int64_t kMost = std::numeric_limits<int32_t>::max(); extent > kMost)
    return fail(ErrorKind::unsupported, fmt::format("axis {} of {} has {} places, and Lathe supports {}",
                                                    op.axis, to_string(keys.shape), extent, kMost));
  Shape line = keys.shape;
  line[op.axis] = 1;
  if (inputs[kThreshold].shape == line && inputs[kBit].shape.empty() && op.count >= 1 && op.count <= extent)
    return inputs[kThreshold];
  return fail(ErrorKind::invalid_argument,
              fmt::format("{}, {} and {} are not keys, a threshold and a bit of the {} largest along axis {}",
                          to_string(keys.shape), to_string(inputs[kThreshold].shape),
                          to_string(inputs[kBit].shape), op.count, op.axis));
}

Values evaluate(const TopThresholdOp& op, std::span<const Values> inputs) {
  Values result = inputs[kThreshold];
  const Shape& keys = inputs[kKeys].shape;
  const auto bit = static_cast<int64_t>(inputs[kBit].data[0]);
  Shape index(keys.size(), 0);
  size_t number = 0;
  do {
    double& threshold = result.data[number++];
    const auto higher = static_cast<double>(static_cast<int64_t>(threshold) ^ bit);
    int64_t reached = 0;
    for (Shape at = index; at[op.axis] < keys[op.axis]; ++at[op.axis])
      reached += element_at(inputs[kKeys], at) >= higher;
    if (reached >= op.count) threshold = higher;
  } while (next_index(index, result.shape));
  return result;
}

Tensor lower(const TopThresholdOp& op, DagBuilder& builder, std::span<const Tensor> operands) {
  const Tensor& keys = operands[kKeys];
  const std::vector<Axis> axes = axes_with(operands[kThreshold]->shape);
  const std::vector<Affine> index = indices(axes);
  const Expr threshold = load(operands[kThreshold], index);
  const Expr higher = binary(BinaryOp::bit_xor, threshold, load(operands[kBit], {}));
  const Axis along = reduce("r", keys->shape[op.axis]);
  std::vector<Affine> at = index;
  at[op.axis] = Affine(along.var);
  const Tensor reached = builder.compute(builder.fresh_name("reached"), axes,
                                         sum({along}, cast({DType::i32}, load(keys, at) >= higher)));
  const Expr is_reached = load(reached, index) >= integer_literal({DType::i32}, op.count);
  return builder.compute(builder.fresh_name("threshold"), axes, select(is_reached, higher, threshold));
}

}  // namespace lathe
