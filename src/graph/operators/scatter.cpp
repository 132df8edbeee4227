#include "graph/operators/scatter.h"

#include <fmt/format.h>

#include <cmath>

#include "expr/integers.h"

namespace lathe {
namespace {

constexpr size_t kData = 0, kPlaces = 1, kUpdates = 2;

Reduction reduction_of(ScatterFunction function) {
  switch (function) {
    case ScatterFunction::last: break;
    case ScatterFunction::add: return Reduction::sum;
    case ScatterFunction::mul: return Reduction::product;
    case ScatterFunction::max: return Reduction::max;
    case ScatterFunction::min: return Reduction::min;
  }
  return Reduction::none;
}

// What leaves every element of the type as it is.
Expr neutral(ScatterFunction function, DType dtype) {
  const double identity = identity_of(reduction_of(function));
  if (is_float(dtype) || std::abs(identity) <= 1) return literal({dtype}, identity);
  const Interval range = integers_of(dtype);
  return cast({dtype}, Expr(identity < 0 ? range.lo : range.hi));
}

Expr combined(ScatterFunction function, const Expr& a, const Expr& b) {
  switch (function) {
    case ScatterFunction::last: return b;
    case ScatterFunction::add: return a + b;
    case ScatterFunction::mul: return a * b;
    case ScatterFunction::max: return max(a, b);
    case ScatterFunction::min: return min(a, b);
  }
  return b;
}

double combined(ScatterFunction function, DType dtype, double a, double b) {
  if (function == ScatterFunction::last) return b;
  if (function == ScatterFunction::max) return std::isnan(a) || a > b ? a : b;
  if (function == ScatterFunction::min) return std::isnan(a) || a < b ? a : b;
  if (is_float(dtype)) return function == ScatterFunction::add ? a + b : a * b;
  const auto left = static_cast<uint64_t>(static_cast<int64_t>(a)),
             right = static_cast<uint64_t>(static_cast<int64_t>(b));
  const uint64_t result = function == ScatterFunction::add ? left + right : left * right;
  return static_cast<double>(wrap_to(dtype, static_cast<int64_t>(result)));
}

}  // namespace

std::string attributes_of(const ScatterOp& op) {
  constexpr const char* kFunctions[] = {"last", "add", "mul", "max", "min"};
  return kFunctions[static_cast<size_t>(op.function)];
}

Result<TensorType> infer(const ScatterOp& op, std::span<const TensorType> inputs) {
  const Shape &data = inputs[kData].shape, &places = inputs[kPlaces].shape, &updates = inputs[kUpdates].shape;
  const DType dtype = inputs[kData].dtype, names = inputs[kPlaces].dtype;
  LATHE_TRY_STATUS(
      require_type(inputs[kPlaces], kPlaces, names == DType::i64 || names == DType::i32, "i64 and i32"));
  LATHE_TRY_STATUS(
      require_type(inputs[kUpdates], kUpdates, inputs[kUpdates].dtype == dtype, "the data's type"));
  if (op.function != ScatterFunction::last)
    LATHE_TRY_STATUS(require_type(inputs[kData], kData,
                                  dtype == DType::f32 || dtype == DType::i32 || dtype == DType::i64,
                                  "f32, i32 and i64"));
  const bool fits = data.size() == 3 &&
                    updates == Shape{data[0], updates.size() == 3 ? updates[1] : 0, data[2]} &&
                    places.size() == 3 && places[0] == data[0] && places[1] == updates[1] &&
                    (places[2] == 1 || places[2] == data[2]);
  if (fits) return inputs[kData];
  return fail(ErrorKind::invalid_argument,
              fmt::format("{}, {} and {} are not data, places and updates", to_string(data),
                          to_string(places), to_string(updates)));
}

Values evaluate(const ScatterOp& op, std::span<const Values> inputs) {
  Values result = inputs[kData];
  const int64_t extent = result.shape[1], columns = result.shape[2];
  Shape at(3, 0);
  size_t number = 0;
  do {
    const auto place = static_cast<int64_t>(element_at(inputs[kPlaces], at));
    const double update = inputs[kUpdates].data[number++];
    if (place < 0 || place >= extent) continue;
    double& element = result.data[static_cast<size_t>((at[0] * extent + place) * columns + at[2])];
    element = combined(op.function, result.dtype, element, update);
  } while (next_index(at, inputs[kUpdates].shape));
  return result;
}

Tensor lower(const ScatterOp& op, DagBuilder& builder, std::span<const Tensor> operands) {
  const Tensor &data = operands[kData], &places = operands[kPlaces], &updates = operands[kUpdates];
  const bool is_last = op.function == ScatterFunction::last;
  const bool is_shared = places->shape[2] == 1;
  // Without a reduction each place's update is found once for all that shares it.
  Shape searched = data->shape;
  if (is_last && is_shared) searched[2] = 1;
  const std::vector<Axis> found = axes_with(searched);
  const Axis update = reduce("u", updates->shape[1]);
  const Affine a(found[0].var), s(found[2].var), u(update.var);
  const Expr named = cast({DType::i64}, load(places, {a, u, is_shared ? Affine(0) : s}));
  const Expr is_here = named == Expr(found[1].var);
  const std::vector<Axis> axes = axes_with(data->shape);
  const Affine row(axes[0].var), column(axes[2].var);
  const Expr old = load(data, {row, Affine(axes[1].var), column});
  if (is_last) {
    const Expr number = select(is_here, cast({DType::i32}, Expr(u)), cast({DType::i32}, Expr(int64_t{-1})));
    const Tensor last = builder.compute(builder.fresh_name("last"), found, max_over({update}, number));
    const Expr which = load(last, {row, Affine(axes[1].var), is_shared ? Affine(0) : column});
    const Expr written = load(updates, {row, to_affine(cast({DType::i64}, which)), column});
    return builder.compute(builder.fresh_name("scattered"), axes,
                           select(which < cast({DType::i32}, Expr(int64_t{0})), old, written));
  }
  const Expr term = select(is_here, load(updates, {a, u, s}), neutral(op.function, data->dtype));
  const Tensor all = builder.compute(builder.fresh_name("updates"), found,
                                     ReduceExpr{reduction_of(op.function), {update}, term});
  const Expr sum = load(all, {row, Affine(axes[1].var), column});
  return builder.compute(builder.fresh_name("scattered"), axes, combined(op.function, old, sum));
}

}  // namespace lathe
