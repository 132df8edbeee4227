#include "graph/operators/set_places.h"

#include <fmt/format.h>

#include <limits>

#include "ops/axes.h"

namespace lathe {
namespace {

Expr whole(int64_t value) { return integer_literal({DType::i32}, value); }

// How many flags are set in each block of 1, 2, 4 .. places along the axis, until there are two
// blocks.
std::vector<Tensor> counts_of_blocks(size_t axis, DagBuilder& builder, const Tensor& flags) {
  std::vector<Axis> axes = axes_with(flags->shape);
  std::vector<Tensor> counts{
      builder.compute(builder.fresh_name("counts"), axes, cast({DType::i32}, load(flags, indices(axes))))};
  while (counts.back()->shape[axis] > 2) {
    const Tensor& half = counts.back();
    const int64_t halves = half->shape[axis];
    Shape shape = half->shape;
    shape[axis] = (halves + 1) / 2;
    axes = axes_with(shape);
    std::vector<Affine> index = indices(axes);
    const Affine first = index[axis] * 2, second = first + Affine(1);
    index[axis] = first;
    const Expr left = load(half, index);
    index[axis] = second;
    const Expr right = load(half, index);
    const bool is_even = halves % 2 == 0;
    counts.push_back(
        builder.compute(builder.fresh_name("counts"), axes,
                        left + (is_even ? right : select(Expr(second) < Expr(halves), right, whole(0)))));
  }
  return counts;
}

// Where the flag stands before which as many are set as the result's place says: down from the block of all
// to the half in which it is.
Tensor search(const SetPlacesOp& op, DagBuilder& builder, const std::vector<Tensor>& counts,
              const std::vector<Axis>& result) {
  const std::vector<Affine> index = indices(result);
  Expr block = whole(0), before = cast({DType::i32}, Expr(result[op.axis].var));
  for (size_t level = counts.size(); level-- > 0;) {
    const Expr left = block * whole(2);
    std::vector<Affine> at = index;
    at[op.axis] = to_affine(cast({DType::i64}, left));
    const Expr set = load(counts[level], at);
    // The last block may have one half alone.
    const Expr is_right = before >= set && left < whole(counts[level]->shape[op.axis] - 1);
    const Tensor blocks =
        builder.compute(builder.fresh_name("block"), result, left + cast({DType::i32}, is_right));
    block = load(blocks, index);
    if (level == 0) break;  // nothing asks what is left
    const Tensor rest =
        builder.compute(builder.fresh_name("before"), result, select(is_right, before - set, before));
    before = load(rest, index);
  }
  return builder.compute(builder.fresh_name("places"), result, cast({DType::i64}, block));
}

}  // namespace

std::string attributes_of(const SetPlacesOp& op) {
  return fmt::format("axis {}, first {}", op.axis, op.count);
}

Result<TensorType> infer(const SetPlacesOp& op, std::span<const TensorType> inputs) {
  Shape shape = inputs[0].shape;
  LATHE_TRY_STATUS(require_type(inputs[0], 0, inputs[0].dtype == DType::boolean, "bool"));
  if (op.axis >= shape.size())
    return fail(ErrorKind::invalid_argument, fmt::format("{} has no axis {}", to_string(shape), op.axis));
  if (op.count < 1 || op.count > shape[op.axis])
    return fail(ErrorKind::invalid_argument,
                fmt::format("it asks for {} of the {} places of axis {} of {}", op.count, shape[op.axis],
                            op.axis, to_string(shape)));
  // Places are searched for as i32, by twice the number of a block.
  if (constexpr int64_t kMost = std::numeric_limits<int32_t>::max() / 2; shape[op.axis] > kMost)
    return fail(ErrorKind::unsupported, fmt::format("axis {} of {} has {} places, and Lathe supports {}",
                                                    op.axis, to_string(shape), shape[op.axis], kMost));
  shape[op.axis] = op.count;
  return TensorType{DType::i64, shape};
}

Values evaluate(const SetPlacesOp& op, std::span<const Values> inputs) {
  Shape shape = inputs[0].shape;
  const int64_t extent = shape[op.axis];
  shape[op.axis] = op.count;
  Values result{shape, std::vector<double>(static_cast<size_t>(elements_of(shape))), DType::i64};
  Shape line = shape;
  line[op.axis] = 1;
  Shape index(shape.size(), 0);
  do {
    Shape to = index;
    const auto give = [&](int64_t place) {
      result.data[static_cast<size_t>(broadcast_offset(shape, to))] = static_cast<double>(place);
      ++to[op.axis];
    };
    for (Shape at = index; at[op.axis] < extent && to[op.axis] < op.count; ++at[op.axis])
      if (element_at(inputs[0], at) != 0) give(at[op.axis]);
    while (to[op.axis] < op.count) give(extent - 1);
  } while (next_index(index, line));
  return result;
}

Tensor lower(const SetPlacesOp& op, DagBuilder& builder, std::span<const Tensor> operands) {
  Shape shape = operands[0]->shape;
  shape[op.axis] = op.count;
  return search(op, builder, counts_of_blocks(op.axis, builder, operands[0]), axes_with(shape));
}

}  // namespace lathe
