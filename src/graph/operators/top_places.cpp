#include "graph/operators/top_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "graph/onnx/node.h"
#include "ops/axes.h"

namespace lathe {
namespace {

// Whether an element stands before another one that is at a later place, or, where `is_later` is not set, at
// an earlier one.
bool stands_before(const TopPlacesOp& op, double x, double other, bool is_later) {
  const bool is_nan = std::isnan(x), other_is_nan = std::isnan(other);
  if ((is_nan && other_is_nan) || x == other) return is_later;
  if (is_nan || other_is_nan) return op.largest ? is_nan : other_is_nan;
  return op.largest ? x > other : x < other;
}

Expr stands_before(const TopPlacesOp& op, const Expr& x, const Expr& other, const Expr& is_later) {
  const Expr is_ahead = op.largest ? x > other : x < other;
  Expr numbers = is_ahead || (x == other && is_later);
  if (!is_float(x.type().dtype)) return numbers;
  // NOLINTBEGIN(misc-redundant-expression): a NaN alone is not equal to itself
  const Expr is_nan = x != x, is_number = x == x, other_is_nan = other != other,
             other_is_number = other == other;
  // NOLINTEND(misc-redundant-expression)
  const Expr both = is_nan && other_is_nan && is_later;
  const Expr one = op.largest ? is_nan && other_is_number : is_number && other_is_nan;
  return numbers || both || one;
}

}  // namespace

std::string attributes_of(const TopPlacesOp& op) {
  return fmt::format("axis {}, {} {}", op.axis, op.count, op.largest ? "largest" : "smallest");
}

Result<TensorType> infer(const TopPlacesOp& op, std::span<const TensorType> inputs) {
  const TensorType& type = inputs[0];
  LATHE_TRY_STATUS(require_type(type, 0, is_number(type.dtype), "f32, f64 and integers"));
  if (op.axis >= type.shape.size())
    return fail(ErrorKind::invalid_argument,
                fmt::format("{} has no axis {}", to_string(type.shape), op.axis));
  const int64_t extent = type.shape[op.axis];
  if (op.count < 1 || op.count > extent)
    return fail(ErrorKind::invalid_argument, fmt::format("it asks for {} of the {} places of axis {} of {}",
                                                         op.count, extent, op.axis, to_string(type.shape)));
  if (extent > TopPlacesOp::kMostElements)
    return fail(ErrorKind::unsupported,
                fmt::format("axis {} of {} has {} places, and Lathe supports {}", op.axis,
                            to_string(type.shape), extent, TopPlacesOp::kMostElements));
  Shape shape = type.shape;
  shape[op.axis] = op.count;
  return TensorType{DType::i64, shape};
}

Values evaluate(const TopPlacesOp& op, std::span<const Values> inputs) {
  Shape shape = inputs[0].shape;
  const int64_t extent = shape[op.axis];
  shape[op.axis] = op.count;
  Values result{shape, std::vector<double>(static_cast<size_t>(elements_of(shape))), DType::i64};
  Shape line = shape;
  line[op.axis] = 1;
  Shape index(shape.size(), 0);
  do {
    std::vector<double> x;
    for (Shape at = index; at[op.axis] < extent; ++at[op.axis]) x.push_back(element_at(inputs[0], at));
    std::vector<int64_t> places(x.size());
    std::iota(places.begin(), places.end(), int64_t{0});
    std::ranges::sort(places, [&](int64_t a, int64_t b) {
      return a != b && stands_before(op, x[static_cast<size_t>(a)], x[static_cast<size_t>(b)], a < b);
    });
    for (Shape at = index; at[op.axis] < op.count; ++at[op.axis])
      result.data[static_cast<size_t>(broadcast_offset(shape, at))] =
          static_cast<double>(places[static_cast<size_t>(at[op.axis])]);
  } while (next_index(index, line));
  return result;
}

// Two computes: how many elements stand before each, then the place of the one before which so many stand.
Tensor lower(const TopPlacesOp& op, DagBuilder& builder, std::span<const Tensor> operands) {
  const Tensor& x = operands[0];
  const std::vector<Axis> axes = axes_with(x->shape);
  const int64_t extent = x->shape[op.axis];
  const Axis other = reduce("r", extent);
  std::vector<Affine> index = indices(axes);
  const Expr here = load(x, index);
  const Affine place = index[op.axis];
  index[op.axis] = Affine(other.var);
  const Expr is_before = stands_before(op, load(x, index), here, Expr(other.var) < Expr(axes[op.axis].var));
  const Tensor rank =
      builder.compute(builder.fresh_name("rank"), axes, sum({other}, cast({DType::i32}, is_before)));
  Shape shape = x->shape;
  shape[op.axis] = op.count;
  const std::vector<Axis> result = axes_with(shape);
  const Axis along = reduce("r", extent);
  std::vector<Affine> ranked = indices(result);
  ranked[op.axis] = Affine(along.var);
  const Expr wanted = cast({DType::i32}, Expr(result[op.axis].var));
  const Expr found = select(load(rank, ranked) == wanted, Expr(along.var), Expr(int64_t{0}));
  return builder.compute(builder.fresh_name("places"), result, sum({along}, found));
}

Result<TopPlacesOp> import_top_places(OnnxNode& node) {
  TopPlacesOp op;
  LATHE_TRY(op.axis, axis_of(node.integer("axis", -1), node.shape(0).size()));
  op.largest = node.integer("largest", 1) != 0;
  node.integer("sorted", 1);
  op.count = node.integer("k", 0);
  if (!node.has_input(1)) return op;
  LATHE_TRY(const Shape count, node.constant_integers(1));
  if (count.size() != 1)
    return fail(ErrorKind::invalid_argument, fmt::format("its count {} is not one number", to_string(count)));
  op.count = count[0];
  return op;
}

}  // namespace lathe
