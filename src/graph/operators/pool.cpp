#include "graph/operators/pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "graph/onnx_node.h"
#include "ops/pool.h"

namespace lathe {

namespace {

// What `ceil_mode` asks for, where it makes no difference to rounding down.
Status check_rounding(const SlidingWindow& window, const Shape& spatial) {
  for (size_t d = 0; d < spatial.size(); ++d) {
    const int64_t reach = (window.kernel[d] - 1) * window.dilations[d] + 1;
    if ((spatial[d] + window.pads_before[d] + window.pads_after[d] - reach) % window.strides[d] != 0) {
      return fail(ErrorKind::unsupported,
                  "attribute 'ceil_mode' is 1 for a window that does not divide the input, and Lathe "
                  "supports 0 there");
    }
  }
  return {};
}

double pool_point(const MaxPoolOp& op, const double* plane, const Shape& spatial, const Shape& at) {
  double largest = -std::numeric_limits<double>::infinity();
  for_each_tap(op.window, spatial, at, [&](const Shape&, const Shape& position) {
    largest = std::max(largest, plane[broadcast_offset(spatial, position)]);
  });
  return largest;
}

}  // namespace

std::string attributes_of(const MaxPoolOp& op) { return to_string(op.window); }

std::string attributes_of(const GlobalAveragePoolOp&) { return {}; }

Result<TensorType> infer(const MaxPoolOp& op, std::span<const TensorType> inputs) {
  LATHE_TRY_STATUS(require_f32(inputs));
  const Shape& data = inputs[0].shape;
  LATHE_TRY_STATUS(check_image(data));
  LATHE_TRY(const Shape extents, output_extents(op.window, Shape(data.begin() + 2, data.end())));
  for (size_t d = 0; d < extents.size(); ++d) {
    if (std::max(op.window.pads_before[d], op.window.pads_after[d]) >= op.window.kernel[d]) {
      return fail(
          ErrorKind::invalid_argument,
          fmt::format("the pads of spatial axis {} are not below its kernel, {}", d, op.window.kernel[d]));
    }
  }
  Shape shape{data[0], data[1]};
  shape.insert(shape.end(), extents.begin(), extents.end());
  return TensorType{DType::f32, shape};
}

Result<TensorType> infer(const GlobalAveragePoolOp&, std::span<const TensorType> inputs) {
  LATHE_TRY_STATUS(require_f32(inputs));
  LATHE_TRY_STATUS(check_image(inputs[0].shape));
  Shape shape(inputs[0].shape.size(), 1);
  std::copy_n(inputs[0].shape.begin(), 2, shape.begin());
  return TensorType{DType::f32, shape};
}

Values evaluate(const MaxPoolOp& op, std::span<const Values> inputs) {
  const Values& data = inputs[0];
  const Shape spatial(data.shape.begin() + 2, data.shape.end());
  const Shape extents = *output_extents(op.window, spatial);
  Values result{{data.shape[0], data.shape[1]}, {}};
  result.shape.insert(result.shape.end(), extents.begin(), extents.end());
  for (int64_t image = 0; image < data.shape[0] * data.shape[1]; ++image) {
    Shape at(spatial.size(), 0);
    do {
      result.data.push_back(pool_point(op, data.data.data() + image * elements_of(spatial), spatial, at));
    } while (next_index(at, extents));
  }
  return result;
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

Tensor lower(const MaxPoolOp& op, DagBuilder& builder, std::span<const Tensor> operands) {
  return max_pool(builder, "pool", operands[0], op.window.kernel, ops_window(op.window));
}

bool needs_epilogue(const MaxPoolOp&, size_t) { return false; }

Expr epilogue(const MaxPoolOp&, const Expr& value, const PointOperands&) { return value; }

Tensor lower(const GlobalAveragePoolOp&, DagBuilder& builder, std::span<const Tensor> operands) {
  return global_average_pool(builder, "pool", operands[0]);
}

bool needs_epilogue(const GlobalAveragePoolOp&, size_t) { return false; }

Expr epilogue(const GlobalAveragePoolOp&, const Expr& value, const PointOperands&) { return value; }

Result<MaxPoolOp> import_max_pool(OnnxNode& node) {
  LATHE_TRY_STATUS(
      require_attribute("storage_order", static_cast<double>(node.integer("storage_order", 0)), 0));
  MaxPoolOp op;
  LATHE_TRY(op.window, import_window(node, {}));
  if (node.integer("ceil_mode", 0) != 0) {
    const Shape& data = node.shape(0);
    LATHE_TRY_STATUS(check_rounding(op.window, Shape(data.begin() + 2, data.end())));
  }
  return op;
}

Result<GlobalAveragePoolOp> import_global_average_pool(OnnxNode&) { return GlobalAveragePoolOp{}; }

}  // namespace lathe
