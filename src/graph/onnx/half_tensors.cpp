#include "graph/onnx/half_tensors.h"

#include <cstring>
#include <utility>

namespace lathe {
namespace {

OnnxConstant widened(const OnnxConstant& constant) {
  const auto count = static_cast<size_t>(elements_of(constant.type.shape));
  auto bytes = std::make_shared<Bytes>(count * sizeof(float));
  visit_storage(constant.type.dtype, [&]<class Stored>(std::type_identity<Stored>) {
    for (size_t i = 0; i < count; ++i) {
      Stored element;
      std::memcpy(&element, constant.data->data() + i * sizeof element, sizeof element);
      const auto wide = static_cast<float>(element);
      std::memcpy(bytes->data() + i * sizeof wide, &wide, sizeof wide);
    }
  });
  return {{DType::f32, constant.type.shape}, std::move(bytes)};
}

}  // namespace

std::optional<TensorId> HalfTensors::find(const std::string& name) const {
  const auto held = held_.find(name);
  return held != held_.end() ? held->second.id : builder_.find(name);
}

DType HalfTensors::declared(const std::string& name, TensorId id) const {
  const auto held = held_.find(name);
  return held != held_.end() ? held->second.half : builder_.tensor(id).type.dtype;
}

Result<TensorId> HalfTensors::widen(const std::string& name, TensorId narrow) {
  const std::string held = builder_.find(name) ? name + "#f32" : name;
  LATHE_TRY(const TensorId id, builder_.node(held, CastOp{DType::f32}, {narrow}, held));
  hold(name, id, builder_.tensor(narrow).type.dtype);
  return id;
}

Result<TensorId> HalfTensors::add_constant(const std::string& name, OnnxConstant constant) {
  const DType dtype = constant.type.dtype;
  if (!is_half(dtype)) return builder_.constant(name, std::move(constant.type), std::move(constant.data));
  OnnxConstant wide = widened(constant);
  if (is_given_(name))
    LATHE_TRY_STATUS(builder_.constant(name, std::move(constant.type), std::move(constant.data)));
  LATHE_TRY(const TensorId id, builder_.constant(name_of(name), std::move(wide.type), std::move(wide.data)));
  hold(name, id, dtype);
  return id;
}

Result<std::optional<TensorId>> HalfTensors::give(const std::string& name) {
  const std::optional<TensorId> given = builder_.find(name);
  const auto held = held_.find(name);
  if (given || held == held_.end()) return given;
  LATHE_TRY(const TensorId id, builder_.node(name, CastOp{held->second.half}, {held->second.id}, name));
  return std::optional(id);
}

}  // namespace lathe
