#include "graph/onnx/node.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "graph/onnx/proto.h"

namespace lathe {

namespace {

constexpr double kLargestInteger = 9007199254740992.0;  // 2^53: beyond it values are rounded

bool is_size_type(DType dtype) { return dtype == DType::i64 || dtype == DType::i32; }
bool is_real(DType dtype) { return dtype == DType::f32 || dtype == DType::f64; }

}  // namespace

std::string OnnxNode::place() const {
  const auto named = std::ranges::find_if(proto_.output(), [](const auto& name) { return !name.empty(); });
  return named == proto_.output().end() ? proto_.name() : *named;
}

Status OnnxNode::require_inputs(std::initializer_list<size_t> inputs) const {
  for (const size_t input : inputs) {
    if (!has_input(input))
      return fail(ErrorKind::invalid_argument, fmt::format("its input {} is left out", input));
  }
  return {};
}

Result<const GraphTensor*> OnnxNode::constant(size_t input) const {
  const GraphTensor* const tensor = inputs_[input].tensor;
  if (tensor->is_constant()) return tensor;
  return fail(ErrorKind::unsupported,
              fmt::format("input {}, '{}', is {}, and Lathe supports a constant there", input, tensor->name,
                          inputs_[input].is_model_input ? "an input of the model" : "computed"));
}

Result<std::vector<double>> OnnxNode::integer_values(size_t input) const {
  LATHE_TRY(const GraphTensor* const tensor, constant(input));
  if (is_size_type(tensor->type.dtype)) return values_of(*tensor);
  return fail(ErrorKind::invalid_argument, fmt::format("input {}, '{}', is of type {}, and must be i64",
                                                       input, tensor->name, to_string(tensor->type.dtype)));
}

Result<Shape> OnnxNode::constant_integers(size_t input) const {
  LATHE_TRY(const std::vector<double> values, integer_values(input));
  const auto large =
      std::ranges::find_if(values, [](double value) { return std::abs(value) > kLargestInteger; });
  if (large != values.end()) {
    return fail(ErrorKind::unsupported,
                fmt::format("input {}, '{}', holds {:.6g}, and Lathe supports integers up to 2^53 there",
                            input, inputs_[input].tensor->name, *large));
  }
  return Shape(values.begin(), values.end());
}

Result<Shape> OnnxNode::bounds_of(const char* name, size_t input) {
  if (has(name) || !has_input(input)) return integers(name, {});
  LATHE_TRY(std::vector<double> values, integer_values(input));
  for (double& value : values) value = std::clamp(value, -kLargestInteger, kLargestInteger);
  return Shape(values.begin(), values.end());
}

Result<Shape> OnnxNode::integers_of(const char* name, size_t input, const Shape& otherwise) {
  if (has(name)) return integers(name, otherwise);
  return has_input(input) ? constant_integers(input) : otherwise;
}

Result<std::vector<double>> OnnxNode::constant_numbers(size_t input) const {
  LATHE_TRY(const GraphTensor* const tensor, constant(input));
  return values_of(*tensor);
}

Result<std::vector<double>> OnnxNode::constant_reals(size_t input) const {
  LATHE_TRY(const GraphTensor* const tensor, constant(input));
  if (is_real(tensor->type.dtype)) return values_of(*tensor);
  return fail(ErrorKind::invalid_argument, fmt::format("input {}, '{}', is of type {}, and must be f32",
                                                       input, tensor->name, to_string(tensor->type.dtype)));
}

Result<double> OnnxNode::constant_number(size_t input, DType dtype, double otherwise) const {
  if (!has_input(input)) return otherwise;
  LATHE_TRY(const GraphTensor* const tensor, constant(input));
  const DType given = tensor->type.dtype;
  if (!(given == dtype || (is_real(given) && is_real(dtype))) || elements_of(tensor->type.shape) != 1) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("input {}, '{}', is {}, and must be one {}", input, tensor->name,
                            to_string(tensor->type), to_string(dtype)));
  }
  const double value = values_of(*tensor).front();
  if (is_float(dtype) || std::abs(value) <= kLargestInteger) return value;
  return fail(ErrorKind::unsupported,
              fmt::format("input {}, '{}', is {:.6g}, and Lathe supports integers up to 2^53 there", input,
                          tensor->name, value));
}

Result<bool> OnnxNode::constant_flag(size_t input) const {
  if (!has_input(input)) return false;
  LATHE_TRY(const GraphTensor* const tensor, constant(input));
  if (tensor->type.dtype == DType::boolean && elements_of(tensor->type.shape) == 1)
    return values_of(*tensor).front() != 0;
  return fail(ErrorKind::invalid_argument, fmt::format("input {}, '{}', is {}, and must be one bool", input,
                                                       tensor->name, to_string(tensor->type)));
}

size_t OnnxNode::output_count() const { return static_cast<size_t>(proto_.output_size()); }

bool OnnxNode::has(const char* name) const {
  const auto& list = proto_.attribute();
  return std::any_of(list.begin(), list.end(),
                     [&](const auto& attribute) { return attribute.name() == name; });
}

const onnx::AttributeProto* OnnxNode::attribute(const char* name, int type, const char* type_name) {
  read_.push_back(name);
  for (const onnx::AttributeProto& attribute : proto_.attribute()) {
    if (attribute.name() != name) continue;
    if (attribute.type() == type) return &attribute;
    if (mistake_.empty()) mistake_ = fmt::format("attribute '{}' is not {}", name, type_name);
  }
  return nullptr;
}

int64_t OnnxNode::integer(const char* name, int64_t otherwise) {
  const onnx::AttributeProto* found = attribute(name, onnx::AttributeProto_AttributeType_INT, "an integer");
  return found ? found->i() : otherwise;
}

double OnnxNode::real(const char* name, double otherwise) {
  const onnx::AttributeProto* found = attribute(name, onnx::AttributeProto_AttributeType_FLOAT, "a number");
  return found ? static_cast<double>(found->f()) : otherwise;
}

Shape OnnxNode::integers(const char* name, const Shape& otherwise) {
  const auto* found = attribute(name, onnx::AttributeProto_AttributeType_INTS, "a list of integers");
  return found ? Shape(found->ints().begin(), found->ints().end()) : otherwise;
}

std::vector<double> OnnxNode::reals(const char* name) {
  const auto* found = attribute(name, onnx::AttributeProto_AttributeType_FLOATS, "a list of numbers");
  return found ? std::vector<double>(found->floats().begin(), found->floats().end()) : std::vector<double>();
}

const onnx::TensorProto* OnnxNode::tensor(const char* name) {
  const onnx::AttributeProto* found = attribute(name, onnx::AttributeProto_AttributeType_TENSOR, "a tensor");
  return found ? &found->t() : nullptr;
}

std::string OnnxNode::text(const char* name, const std::string& otherwise) {
  const onnx::AttributeProto* found = attribute(name, onnx::AttributeProto_AttributeType_STRING, "a text");
  return found ? found->s() : otherwise;
}

std::vector<std::string> OnnxNode::texts(const char* name) {
  const auto* found = attribute(name, onnx::AttributeProto_AttributeType_STRINGS, "a list of texts");
  return found ? std::vector<std::string>(found->strings().begin(), found->strings().end())
               : std::vector<std::string>();
}

Status OnnxNode::finish() const {
  if (!mistake_.empty()) return fail(ErrorKind::invalid_argument, mistake_);
  for (const onnx::AttributeProto& attribute : proto_.attribute()) {
    if (std::find(read_.begin(), read_.end(), attribute.name()) == read_.end()) {
      return fail(ErrorKind::unsupported,
                  fmt::format("it has the attribute '{}', which Lathe does not support", attribute.name()));
    }
  }
  return {};
}

Status require_attribute(const char* name, double value, double supported) {
  if (value == supported) return {};
  return fail(ErrorKind::unsupported,
              fmt::format("attribute '{}' is {}, and Lathe supports {}", name, value, supported));
}

}  // namespace lathe
