#include "graph/onnx_known.h"

#include <algorithm>

#include "graph/onnx_proto.h"

namespace lathe {

Result<OnnxConstant> import_shape(OnnxNode& node) {
  const Shape& shape = node.shape(0);
  const auto rank = static_cast<int64_t>(shape.size());
  const auto place = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank); };
  const int64_t start = place(node.integer("start", 0));
  const int64_t end = std::max(start, place(node.integer("end", rank)));
  const std::vector<double> extents(shape.begin() + start, shape.begin() + end);
  const TensorType type{DType::i64, {end - start}};
  LATHE_TRY_STATUS(check_shape(type.shape, "its result"));
  return OnnxConstant{type, to_bytes(DType::i64, extents)};
}

Result<OnnxConstant> import_constant_of_shape(OnnxNode& node) {
  LATHE_TRY(const Shape shape, node.constant_integers(0));
  LATHE_TRY_STATUS(check_shape(shape, "its result"));
  constexpr int64_t kMostElements = int64_t{1} << 28;
  if (elements_of(shape) > kMostElements)
    return fail(ErrorKind::unsupported, "its result " + to_string(shape) + " is too large");
  OnnxConstant element{{DType::f32, {1}}, to_bytes(DType::f32, std::vector<double>{0})};
  if (const onnx::TensorProto* value = node.tensor("value")) {
    onnx::TensorProto copy = *value;
    LATHE_TRY(element, take_constant(copy, "attribute 'value'"));
  }
  if (elements_of(element.type.shape) != 1)
    return fail(ErrorKind::invalid_argument, "attribute 'value' is not one element");
  auto data = std::make_shared<Bytes>();
  for (int64_t i = 0; i < elements_of(shape); ++i)
    data->insert(data->end(), element.data->begin(), element.data->end());
  return OnnxConstant{{element.type.dtype, shape}, std::move(data)};
}

}  // namespace lathe
