#include "graph/onnx/nodes/node_writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "graph/onnx/bodies.h"
#include "graph/onnx/proto.h"

namespace lathe {

NodeWriter::NodeWriter(const onnx::NodeProto& node, const BodyImport& import, size_t& nodes)
    : node_(node), import_(import), nodes_(nodes) {
  for (const std::string& output : node.output())
    if (place_.empty()) place_ = output;
}

Result<const GraphTensor*> NodeWriter::tensor(const std::string& name) const {
  if (const GraphTensor* found = import_.find(name)) return found;
  return fail(ErrorKind::invalid_argument,
              fmt::format("it reads '{}', which no input, initializer or earlier node gives", name));
}

Result<const onnx::GraphProto*> NodeWriter::body(const char* attribute) const {
  for (const onnx::AttributeProto& each : node_.attribute())
    if (each.name() == attribute && each.has_g()) return &each.g();
  return fail(ErrorKind::invalid_argument,
              fmt::format("it has no attribute '{}' that is a graph", attribute));
}

Result<std::optional<double>> NodeWriter::known_number(const std::string& name) const {
  LATHE_TRY(const GraphTensor* const found, tensor(name));
  if (elements_of(found->type.shape) != 1) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("'{}' has shape {}, and must be one value", name, to_string(found->type.shape)));
  }
  return found->is_constant() ? std::optional(values_of(*found).front()) : std::nullopt;
}

Status NodeWriter::add(onnx::NodeProto& node) {
  if (++nodes_ <= kMostNodesOfBodies) return import_.add(node);
  return fail(ErrorKind::unsupported,
              fmt::format("with it the model's bodies come to more than {} nodes", kMostNodesOfBodies));
}

Status NodeWriter::add_all(std::vector<onnx::NodeProto> nodes) {
  for (onnx::NodeProto& node : nodes) LATHE_TRY_STATUS(add(node));
  return {};
}

Status NodeWriter::add_operator(GraphOp op, const Names& inputs, const std::string& output) {
  for (const std::string& input : inputs) {
    LATHE_TRY(const GraphTensor* const found, tensor(input));
    if (elements_of(found->type.shape) == 0)
      return fail(ErrorKind::unsupported, fmt::format("'{}' has no elements", input));
  }
  return import_.add_operator(std::move(op), inputs, output);
}

onnx::NodeProto NodeWriter::plain(const char* type, const Names& inputs, const std::string& output) const {
  onnx::NodeProto node;
  node.set_op_type(type);
  node.set_name(output == node_.output(0) && !node_.name().empty() ? node_.name() : output);
  for (const std::string& input : inputs) node.add_input(input);
  node.add_output(output);
  return node;
}

void NodeWriter::set_integer(onnx::NodeProto& node, const char* name, int64_t value) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto_AttributeType_INT);
  attribute.set_i(value);
}

Status NodeWriter::add_plain(const char* type, const Names& inputs, const std::string& output) {
  onnx::NodeProto node = plain(type, inputs, output);
  return add(node);
}

Status NodeWriter::add_plain(const char* type, const Names& inputs, const std::string& output,
                             const char* attribute, int64_t value) {
  onnx::NodeProto node = plain(type, inputs, output);
  set_integer(node, attribute, value);
  return add(node);
}

Status NodeWriter::add_constant(const std::string& name, DType dtype, const Shape& values,
                                const Shape& shape) {
  onnx::NodeProto node = plain("Constant", {}, name);
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name("value");
  attribute.set_type(onnx::AttributeProto_AttributeType_TENSOR);
  onnx::TensorProto& tensor = *attribute.mutable_t();
  for (const int64_t extent : shape) tensor.add_dims(extent);
  const bool is_flag = dtype == DType::boolean;
  tensor.set_data_type(is_flag ? onnx::TensorProto_DataType_BOOL : onnx::TensorProto_DataType_INT64);
  for (const int64_t value : values) {
    if (is_flag)
      tensor.add_int32_data(static_cast<int32_t>(value));
    else
      tensor.add_int64_data(value);
  }
  return add(node);
}

Status NodeWriter::add_pick(const std::string& tensor, int64_t axis, int64_t at, const std::string& name) {
  LATHE_TRY_STATUS(add_constant(name + "#at", DType::i64, {at}, {}));
  return add_plain("Gather", {tensor, name + "#at"}, name, "axis", axis);
}

Result<std::string> NodeWriter::add_stack(Names parts, int64_t axis, const std::string& place) {
  LATHE_TRY(const GraphTensor* const first, tensor(parts.front()));
  Shape wider = first->type.shape;
  LATHE_TRY(const size_t at, axis_of(axis, wider.size() + 1));
  wider.insert(wider.begin() + static_cast<std::ptrdiff_t>(at), 1);
  LATHE_TRY_STATUS(add_integers(place + "#shape", wider));
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string name = fmt::format("{}/{}", place, i);
    LATHE_TRY_STATUS(add_plain("Reshape", {parts[i], place + "#shape"}, name));
    parts[i] = name;
  }
  return add_joined(std::move(parts), at, place);
}

Result<std::string> NodeWriter::add_joined(Names parts, size_t axis, const std::string& place) {
  constexpr size_t kMostParts = 1024;
  for (size_t round = 0; parts.size() > 1; ++round) {
    Names longer;
    for (size_t first = 0; first < parts.size(); first += kMostParts) {
      const size_t last = std::min(first + kMostParts, parts.size());
      longer.push_back(fmt::format("{}#{}/{}", place, round, first));
      const Names some(parts.begin() + static_cast<std::ptrdiff_t>(first),
                       parts.begin() + static_cast<std::ptrdiff_t>(last));
      LATHE_TRY_STATUS(add_plain("Concat", some, longer.back(), "axis", static_cast<int64_t>(axis)));
    }
    parts = longer;
  }
  return parts.front();
}

}  // namespace lathe
