#include "graph/operators/pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/onnx/node.h"
#include "ops/axes.h"
#include "ops/elementwise.h"
#include "ops/pool.h"

namespace lathe {

namespace {

// Rounds the number of windows up: pads behind for one more, unless it would lie in pads alone. Where not
// even the first window fits whole, that one more is the first; none where a whole stride is missing.
void round_up(SlidingWindow& window, const Shape& spatial) {
  for (size_t d = 0; d < spatial.size(); ++d) {
    const int64_t room = spatial[d] + window.pads_before[d] + window.pads_after[d] - reach(window, d);
    const int64_t stride = window.strides[d];
    const int64_t missing = (stride - room % stride) % stride;
    const int64_t start = room + missing;
    if (start >= 0 && start < spatial[d] + window.pads_before[d]) window.pads_after[d] += missing;
  }
}

// Leaves out the taps of a window that lie beside the operand wherever it stands, as most of one that is
// larger than the operand do. Not along axes where pads are `counted`.
void drop_empty_taps(SlidingWindow& window, const Shape& spatial, const std::vector<bool>& counted) {
  for (size_t d = 0; d < spatial.size(); ++d) {
    int64_t& kernel = window.kernel[d];
    int64_t &before = window.pads_before[d], &after = window.pads_after[d];
    const int64_t room = spatial[d] + before + after - kernel;
    if (room < 0 || window.dilations[d] != 1 || counted[d]) continue;
    const int64_t last = room / window.strides[d] * window.strides[d];
    const int64_t in_front = std::clamp(before - last, int64_t{0}, kernel - 1);
    const int64_t behind = std::clamp(kernel - (spatial[d] + before), int64_t{0}, kernel - 1 - in_front);
    kernel -= in_front + behind;
    before -= in_front;
    // Pads that no window reaches are none.
    after = std::max<int64_t>(0, last + kernel - before - spatial[d]);
  }
}

// The taps of a window at `place` of the result, along one axis, that lie within `before` places in front of
// the operand and `after` behind it.
int64_t taps_within(const SlidingWindow& window, size_t d, int64_t place, int64_t extent, int64_t before,
                    int64_t after) {
  const int64_t origin = place * window.strides[d] - window.pads_before[d];
  const int64_t step = window.dilations[d];
  const int64_t first = std::max<int64_t>(0, (-before - origin + step - 1) / step);
  const int64_t room = extent + after - 1 - origin;  // from the window's first tap to the last that counts
  const int64_t last = room < 0 ? -1 : std::min(window.kernel[d] - 1, room / step);
  return std::max<int64_t>(0, last - first + 1);
}

// The taps of a dilated window may pass over all of a short operand.
Status check_gaps(const SlidingWindow& window, size_t d, int64_t places, int64_t extent) {
  constexpr int64_t kMostTaps = int64_t{1} << 24;
  if (window.dilations[d] == 1 || (window.pads_before[d] == 0 && window.pads_after[d] == 0)) return {};
  if (places > kMostTaps / window.kernel[d])
    return fail(ErrorKind::unsupported, fmt::format("spatial axis {} is too long for a dilated window", d));
  for (int64_t place = 0; place < places; ++place) {
    if (taps_within(window, d, place, extent, 0, 0) > 0) continue;
    return fail(ErrorKind::invalid_argument,
                fmt::format("window {} of spatial axis {} holds nothing but pads", place, d));
  }
  return {};
}

// [N, C, extents]; an Error where a window could hold nothing but pads.
Result<TensorType> pooled_type(const SlidingWindow& window, const TensorType& input) {
  const Shape& data = input.shape;
  LATHE_TRY_STATUS(check_image(data));
  LATHE_TRY(const Shape extents, output_extents(window, Shape(data.begin() + 2, data.end())));
  Shape shape{data[0], data[1]};
  for (size_t d = 0; d < extents.size(); ++d) {
    if (window.pads_before[d] >= window.kernel[d] || window.pads_after[d] >= reach(window, d)) {
      return fail(
          ErrorKind::invalid_argument,
          fmt::format("the pads of spatial axis {} are not below its kernel, {}", d, window.kernel[d]));
    }
    LATHE_TRY_STATUS(check_gaps(window, d, extents[d], data[d + 2]));
    shape.push_back(extents[d]);
  }
  return TensorType{input.dtype, shape};
}

double steps_of_pool(const SlidingWindow& window, const TensorType& input) {
  return 8.0 * static_cast<double>(elements_of(pooled_type(window, input)->shape)) *
         static_cast<double>(elements_of(window.kernel));
}

// f(plane, index) for every element of the result.
template <class Point>
Values pool_values(const SlidingWindow& window, const Values& data, Point f) {
  const Shape spatial(data.shape.begin() + 2, data.shape.end());
  const Shape extents = *output_extents(window, spatial);
  Values result{{data.shape[0], data.shape[1]}, {}};
  result.shape.insert(result.shape.end(), extents.begin(), extents.end());
  for (int64_t image = 0; image < data.shape[0] * data.shape[1]; ++image) {
    Shape at(spatial.size(), 0);
    do {
      result.data.push_back(f(data.data.data() + image * elements_of(spatial), spatial, at));
    } while (next_index(at, extents));
  }
  return result;
}

double pool_point(const MaxPoolOp& op, const double* plane, const Shape& spatial, const Shape& at) {
  double largest = -std::numeric_limits<double>::infinity();
  for_each_tap(op.window, spatial, at, [&](const Shape&, const Shape& position) {
    largest = maximum(largest, plane[broadcast_offset(spatial, position)]);
  });
  return largest;
}

double norm_point(const LpPoolOp& op, const double* plane, const Shape& spatial, const Shape& at) {
  double sum = 0;
  for_each_tap(op.window, spatial, at, [&](const Shape&, const Shape& position) {
    const double x = plane[broadcast_offset(spatial, position)];
    sum += op.squares ? x * x : std::abs(x);
  });
  return op.squares ? std::sqrt(sum) : sum;
}

double average_point(const AveragePoolOp& op, const double* plane, const Shape& spatial, const Shape& at) {
  double sum = 0;
  double count = 1;
  for_each_tap(op.window, spatial, at, [&](const Shape&, const Shape& position) {
    sum += plane[broadcast_offset(spatial, position)];
  });
  for (size_t d = 0; d < spatial.size(); ++d) {
    count *= static_cast<double>(
        taps_within(op.window, d, at[d], spatial[d], op.counted_before[d], op.counted_after[d]));
  }
  return sum / count;
}

// The number of taps that count at each place of one axis; a number where all places have the same.
Expr tap_count(const AveragePoolOp& op, size_t d, DagBuilder& builder, const Tensor& x, const Axis& axis) {
  const int64_t extent = x->shape[d + 2];
  const Type type{x->dtype};
  const auto count = [&](int64_t place) {
    return taps_within(op.window, d, place, extent, op.counted_before[d], op.counted_after[d]);
  };
  int64_t place = 1;
  while (place < axis.extent && count(place) == count(0)) ++place;
  const bool same = place >= axis.extent;
  if (same) return literal(type, static_cast<double>(count(0)));
  const Axis at = spatial("y", axis.extent);
  const Axis tap = reduce("k", op.window.kernel[d]);
  const Affine position = Affine(at.var) * op.window.strides[d] + Affine(tap.var) * op.window.dilations[d] -
                          Affine(op.window.pads_before[d]);
  const Expr inside =
      Expr(position) >= Expr(-op.counted_before[d]) && Expr(position) < Expr(extent + op.counted_after[d]);
  const Expr one = select(inside, literal(type, 1), literal(type, 0));
  const Tensor counts = builder.compute(builder.fresh_name("taps"), {at}, sum({tap}, one));
  return load(counts, {Affine(axis.var)});
}

}  // namespace

std::string attributes_of(const MaxPoolOp& op) { return to_string(op.window); }

std::string attributes_of(const AveragePoolOp& op) {
  return fmt::format("{}, counted [{},{}]", to_string(op.window), to_string(op.counted_before),
                     to_string(op.counted_after));
}

std::string attributes_of(const LpPoolOp& op) {
  return fmt::format("{}, {}", to_string(op.window), op.squares ? "squares" : "magnitudes");
}

std::string attributes_of(const GlobalAveragePoolOp&) { return {}; }

Result<TensorType> infer(const MaxPoolOp& op, std::span<const TensorType> inputs) {
  const DType dtype = inputs[0].dtype;
  LATHE_TRY_STATUS(require_type(inputs[0], 0, is_number(dtype), "f32, f64 and integers"));
  return pooled_type(op.window, inputs[0]);
}

Result<TensorType> infer(const AveragePoolOp& op, std::span<const TensorType> inputs) {
  LATHE_TRY_STATUS(require_reals(inputs));
  return pooled_type(op.window, inputs[0]);
}

Result<TensorType> infer(const LpPoolOp& op, std::span<const TensorType> inputs) {
  LATHE_TRY_STATUS(require_reals(inputs));
  return pooled_type(op.window, inputs[0]);
}

Result<TensorType> infer(const GlobalAveragePoolOp&, std::span<const TensorType> inputs) {
  LATHE_TRY_STATUS(require_reals(inputs));
  LATHE_TRY_STATUS(check_image(inputs[0].shape));
  Shape shape(inputs[0].shape.size(), 1);
  std::copy_n(inputs[0].shape.begin(), 2, shape.begin());
  return TensorType{inputs[0].dtype, shape};
}

Values evaluate(const MaxPoolOp& op, std::span<const Values> inputs) {
  return pool_values(op.window, inputs[0], [&](const double* plane, const Shape& spatial, const Shape& at) {
    return pool_point(op, plane, spatial, at);
  });
}

Values evaluate(const AveragePoolOp& op, std::span<const Values> inputs) {
  return pool_values(op.window, inputs[0], [&](const double* plane, const Shape& spatial, const Shape& at) {
    return average_point(op, plane, spatial, at);
  });
}

Values evaluate(const LpPoolOp& op, std::span<const Values> inputs) {
  return pool_values(op.window, inputs[0], [&](const double* plane, const Shape& spatial, const Shape& at) {
    return norm_point(op, plane, spatial, at);
  });
}

Values evaluate(const GlobalAveragePoolOp&, std::span<const Values> inputs) {
  const Values& data = inputs[0];
  Values result{Shape(data.shape.size(), 1), {}};
  std::copy_n(data.shape.begin(), 2, result.shape.begin());
  const auto images = static_cast<size_t>(data.shape[0] * data.shape[1]);
  const size_t plane = data.data.size() / images;
  for (size_t image = 0; image < images; ++image) {
    double sum = 0;
    for (size_t i = 0; i < plane; ++i) sum += data.data[image * plane + i];
    result.data.push_back(sum / static_cast<double>(plane));
  }
  return result;
}

double steps_of(const MaxPoolOp& op, std::span<const TensorType> inputs) {
  return steps_of_pool(op.window, inputs[0]);
}
double steps_of(const AveragePoolOp& op, std::span<const TensorType> inputs) {
  return steps_of_pool(op.window, inputs[0]);
}
double steps_of(const LpPoolOp& op, std::span<const TensorType> inputs) {
  return steps_of_pool(op.window, inputs[0]);
}

Tensor lower(const MaxPoolOp& op, DagBuilder& builder, std::span<const Tensor> operands) {
  return max_pool(builder, "pool", operands[0], op.window.kernel, ops_window(op.window));
}

Tensor lower(const AveragePoolOp& op, DagBuilder& builder, std::span<const Tensor> operands) {
  const Tensor& x = operands[0];
  const Tensor total = sum_pool(builder, "total", x, op.window.kernel, ops_window(op.window));
  const std::vector<Axis> axes = axes_of(total);
  Expr count;
  for (size_t d = 0; d + 2 < axes.size(); ++d) {
    const Expr taps = tap_count(op, d, builder, x, axes[d + 2]);
    count = count.defined() ? count * taps : taps;
  }
  return builder.compute("pool", axes, load(total, indices(axes)) / count);
}

Tensor lower(const LpPoolOp& op, DagBuilder& builder, std::span<const Tensor> operands) {
  const Tensor terms =
      map(builder, "terms", operands[0], [&](const Expr& x) { return op.squares ? x * x : abs(x); });
  Tensor total = sum_pool(builder, "total", terms, op.window.kernel, ops_window(op.window));
  if (!op.squares) return total;
  return map(builder, "pool", total, [](const Expr& sum) { return sqrt(sum); });
}

Tensor lower(const GlobalAveragePoolOp&, DagBuilder& builder, std::span<const Tensor> operands) {
  return global_average_pool(builder, "pool", operands[0]);
}

Result<MaxPoolOp> import_max_pool(OnnxNode& node) {
  node.integer("storage_order", 0);  // of the second output
  MaxPoolOp op;
  LATHE_TRY(op.window, import_window(node, {}));
  const Shape& data = node.shape(0);
  const Shape spatial(data.begin() + 2, data.end());
  if (node.integer("ceil_mode", 0) != 0) round_up(op.window, spatial);
  drop_empty_taps(op.window, spatial, std::vector<bool>(spatial.size()));
  return op;
}

Result<AveragePoolOp> import_average_pool(OnnxNode& node) {
  AveragePoolOp op;
  LATHE_TRY(op.window, import_window(node, {}));
  const Shape& data = node.shape(0);
  const Shape spatial(data.begin() + 2, data.end());
  op.counted_before = op.counted_after = Shape(spatial.size(), 0);
  if (node.integer("count_include_pad", 0) != 0) {
    op.counted_before = op.window.pads_before;
    op.counted_after = op.window.pads_after;
  }
  if (node.integer("ceil_mode", 0) != 0) round_up(op.window, spatial);
  std::vector<bool> counted;
  for (size_t d = 0; d < spatial.size(); ++d)
    counted.push_back(op.counted_before[d] != 0 || op.counted_after[d] != 0);
  drop_empty_taps(op.window, spatial, counted);
  return op;
}

Result<LpPoolOp> import_lp_pool(OnnxNode& node) {
  LpPoolOp op;
  LATHE_TRY(op.window, import_window(node, {}));
  const Shape& data = node.shape(0);
  const Shape spatial(data.begin() + 2, data.end());
  if (node.integer("ceil_mode", 0) != 0) round_up(op.window, spatial);
  drop_empty_taps(op.window, spatial, std::vector<bool>(spatial.size()));
  op.squares = node.integer("p", 2) == 2;
  return op;
}

Result<GlobalAveragePoolOp> import_global_average_pool(OnnxNode&) { return GlobalAveragePoolOp{}; }

}  // namespace lathe
