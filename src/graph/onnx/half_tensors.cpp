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

void HalfTensors::hold_code(const std::string& name, TensorId id, Code code) {
  codes_[id] = code;
  if (is_float(held_in(code))) held_[name] = {id, held_in(code), code};
}

std::optional<Code> HalfTensors::code_of(TensorId id) const {
  const auto code = codes_.find(id);
  return code == codes_.end() ? std::nullopt : std::optional(code->second);
}

std::optional<Code> HalfTensors::code_of_result(const ImportedValue& value,
                                                const std::vector<TensorId>& operands,
                                                bool has_operands_type) const {
  const GraphOp* const op = std::get_if<GraphOp>(&value);
  if (op == nullptr) return std::nullopt;
  if (const auto* rounds = std::get_if<RoundToCodeOp>(op)) return rounds->code;
  if (!has_operands_type || !moves_elements(*op)) return std::nullopt;
  for (const TensorId operand : operands)
    if (const std::optional<Code> code = code_of(operand)) return code;
  return std::nullopt;
}

Status HalfTensors::decode(const std::string& name, TensorId codes, Code code) {
  TensorId id = codes;
  if (is_float(held_in(code))) {
    const std::string held = name + "#f32";
    LATHE_TRY(id, builder_.node(held, DecodeOp{code}, {codes}, held));
  }
  hold_code(name, id, code);
  return {};
}

Result<TensorId> HalfTensors::add_constant(const std::string& name, OnnxConstant constant) {
  const DType dtype = constant.type.dtype;
  if (const std::optional<Code> code = constant.code) {
    const std::string own = is_float(dtype) ? name_of(name) : name;
    LATHE_TRY(const TensorId id, builder_.constant(own, std::move(constant.type), std::move(constant.data)));
    hold_code(name, id, *code);
    return id;
  }
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
  const auto& [numbers, half, code] = held->second;
  const GraphOp narrow = code ? GraphOp(EncodeOp{*code}) : GraphOp(CastOp{half});
  LATHE_TRY(const TensorId id, builder_.node(name, narrow, {numbers}, name));
  return std::optional(id);
}

}  // namespace lathe
