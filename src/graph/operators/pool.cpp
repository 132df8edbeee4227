#include "graph/operators/pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "graph/onnx_node.h"

namespace lathe {

namespace {

Status require_image(const Shape& data) {
  if (data.size() >= 3) return {};
  return fail(ErrorKind::invalid_argument,
              fmt::format("input 0 has shape {}, and must be [N, C, spatial...]", to_string(data)));
}

// What `ceil_mode` asks for, where it makes no difference to rounding down.
Status check_rounding(const Window& window, const Shape& spatial) {
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

double pool_point(const PoolOp& op, const double* plane, const Shape& spatial, const Shape& at) {
  double largest = -std::numeric_limits<double>::infinity(), sum = 0;
  int64_t count = 0;
  for_each_tap(op.window, spatial, at, [&](const Shape&, const Shape& position) {
    const double value = plane[broadcast_offset(spatial, position)];
    largest = std::max(largest, value);
    sum += value;
    ++count;
  });
  if (op.kind == PoolKind::max) return largest;
  return sum / static_cast<double>(op.count_padding ? elements_of(op.window.kernel) : count);
}

Result<PoolOp> import_pool(OnnxNode& node, PoolKind kind) {
  PoolOp op;
  op.kind = kind;
  LATHE_TRY(op.window, import_window(node, {}));
  if (node.integer("ceil_mode", 0) != 0) {
    const Shape& data = node.shape(0);
    LATHE_TRY_STATUS(check_rounding(op.window, Shape(data.begin() + 2, data.end())));
  }
  return op;
}

}  // namespace

std::string attributes_of(const PoolOp& op) {
  return fmt::format("{}, {}{}", op.kind == PoolKind::max ? "max" : "average", to_string(op.window),
                     op.count_padding ? ", padding counts" : "");
}

std::string attributes_of(const GlobalAveragePoolOp&) { return {}; }

Result<TensorType> infer(const PoolOp& op, std::span<const TensorType> inputs) {
  LATHE_TRY_STATUS(require_f32(inputs));
  const Shape& data = inputs[0].shape;
  LATHE_TRY_STATUS(require_image(data));
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
  LATHE_TRY_STATUS(require_image(inputs[0].shape));
  Shape shape(inputs[0].shape.size(), 1);
  std::copy_n(inputs[0].shape.begin(), 2, shape.begin());
  return TensorType{DType::f32, shape};
}

Values evaluate(const PoolOp& op, std::span<const Values> inputs) {
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

Result<PoolOp> import_max_pool(OnnxNode& node) {
  LATHE_TRY_STATUS(
      require_attribute("storage_order", static_cast<double>(node.integer("storage_order", 0)), 0));
  return import_pool(node, PoolKind::max);
}

Result<PoolOp> import_average_pool(OnnxNode& node) {
  LATHE_TRY(PoolOp op, import_pool(node, PoolKind::average));
  op.count_padding = node.integer("count_include_pad", 0) != 0;
  return op;
}

Result<GlobalAveragePoolOp> import_global_average_pool(OnnxNode&) { return GlobalAveragePoolOp{}; }

}  // namespace lathe
