#include "graph/onnx_models.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <numeric>
#include <sstream>

namespace lathe {

OnnxModel::OnnxModel() {
  proto.set_ir_version(8);
  proto.add_opset_import()->set_version(17);
  proto.mutable_graph()->set_name("test");
}

OnnxModel& OnnxModel::input(const std::string& name, const Shape& shape, int type) {
  onnx::ValueInfoProto& info = *proto.mutable_graph()->add_input();
  info.set_name(name);
  info.mutable_type()->mutable_tensor_type()->set_elem_type(type);
  auto& dims = *info.mutable_type()->mutable_tensor_type()->mutable_shape();
  for (int64_t extent : shape) dims.add_dim()->set_dim_value(extent);
  return *this;
}

OnnxModel& OnnxModel::output(const std::string& name) {
  proto.mutable_graph()->add_output()->set_name(name);
  return *this;
}

OnnxModel& OnnxModel::initializer(const std::string& name, const Shape& shape, std::vector<float> values) {
  if (values.empty()) {
    for (int64_t i = 0; i < elements_of(shape); ++i)
      values.push_back(static_cast<float>(rng_.uniform() * 2 - 1));
  }
  onnx::TensorProto& tensor = *proto.mutable_graph()->add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto_DataType_FLOAT);
  for (int64_t extent : shape) tensor.add_dims(extent);
  tensor.set_raw_data(values.data(), values.size() * sizeof(float));
  return *this;
}

OnnxModel& OnnxModel::integers(const std::string& name, const std::vector<int64_t>& values) {
  return integers(name, {static_cast<int64_t>(values.size())}, values);
}

OnnxModel& OnnxModel::integers(const std::string& name, const Shape& shape,
                               const std::vector<int64_t>& values) {
  onnx::TensorProto& tensor = *proto.mutable_graph()->add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto_DataType_INT64);
  for (int64_t extent : shape) tensor.add_dims(extent);
  for (int64_t value : values) tensor.add_int64_data(value);
  return *this;
}

OnnxModel& OnnxModel::node(const std::string& name, const std::string& type,
                           const std::vector<std::string>& inputs, const std::string& output) {
  onnx::NodeProto& node = *proto.mutable_graph()->add_node();
  node.set_name(name);
  node.set_op_type(type);
  for (const std::string& input : inputs) node.add_input(input);
  node.add_output(output);
  return *this;
}

OnnxModel& OnnxModel::gives(const std::string& output) {
  proto.mutable_graph()->mutable_node()->rbegin()->add_output(output);
  return *this;
}

OnnxModel& OnnxModel::operator_set(int64_t version) {
  proto.mutable_opset_import(0)->set_version(version);
  return *this;
}

namespace {

onnx::AttributeProto& add_attribute(onnx::ModelProto& model, const std::string& name, int type) {
  auto& nodes = *model.mutable_graph()->mutable_node();
  onnx::AttributeProto& attribute = *nodes.rbegin()->add_attribute();
  attribute.set_name(name);
  attribute.set_type(static_cast<onnx::AttributeProto_AttributeType>(type));
  return attribute;
}

}  // namespace

OnnxModel& OnnxModel::attribute(const std::string& name, int64_t value) {
  add_attribute(proto, name, onnx::AttributeProto_AttributeType_INT).set_i(value);
  return *this;
}

OnnxModel& OnnxModel::attribute(const std::string& name, double value) {
  add_attribute(proto, name, onnx::AttributeProto_AttributeType_FLOAT).set_f(static_cast<float>(value));
  return *this;
}

OnnxModel& OnnxModel::attribute(const std::string& name, const char* value) {
  add_attribute(proto, name, onnx::AttributeProto_AttributeType_STRING).set_s(value);
  return *this;
}

OnnxModel& OnnxModel::attribute(const std::string& name, std::initializer_list<int64_t> values) {
  onnx::AttributeProto& attribute = add_attribute(proto, name, onnx::AttributeProto_AttributeType_INTS);
  for (int64_t value : values) attribute.add_ints(value);
  return *this;
}

OnnxModel small_conv_model() {
  OnnxModel model;
  model.input("x", {1, 2, 5, 5}).initializer("w", {4, 2, 3, 3}).initializer("b", {4});
  model.node("first", "Conv", {"x", "w", "b"}, "t").attribute("pads", {1, 1, 1, 1});
  model.node("second", "Relu", {"t"}, "y").output("y");
  return model;
}

std::string resnet18_bytes() {
  std::ifstream file(LATHE_SOURCE_DIR "/tests/data/resnet18.graph.onnx", std::ios::binary);
  onnx::ModelProto model;
  if (!model.ParseFromIstream(&file)) return {};
  Rng rng(18);
  for (onnx::TensorProto& tensor : *model.mutable_graph()->mutable_initializer()) {
    std::istringstream rule(tensor.doc_string());
    std::string distribution;
    double mean = 0, deviation = 0;
    if (!(rule >> distribution >> mean >> deviation) || distribution != "normal") continue;
    int64_t count = 1;
    for (int64_t extent : tensor.dims()) count *= extent;
    std::vector<float> values(static_cast<size_t>(count));
    for (float& value : values) value = static_cast<float>(rng.normal() * deviation + mean);
    tensor.set_raw_data(values.data(), values.size() * sizeof(float));
  }
  return model.SerializeAsString();
}

Values numbered(const Shape& shape) {
  Values values{shape, std::vector<double>(static_cast<size_t>(elements_of(shape)))};
  std::iota(values.data.begin(), values.data.end(), 1.0);
  return values;
}

std::vector<Values> random_inputs(const Graph& graph, uint64_t seed) {
  Rng rng(seed);
  std::vector<Values> inputs;
  for (TensorId id : graph.inputs) {
    Values values{graph.tensors[id].type.shape, {}};
    for (int64_t i = 0; i < elements_of(values.shape); ++i) values.data.push_back(rng.uniform() * 2 - 1);
    inputs.push_back(std::move(values));
  }
  return inputs;
}

double relative_difference(const std::vector<Values>& actual, const std::vector<Values>& expected) {
  double difference = 0, magnitude = 0;
  if (actual.size() != expected.size()) return std::numeric_limits<double>::infinity();
  for (size_t k = 0; k < expected.size(); ++k) {
    if (actual[k].shape != expected[k].shape || actual[k].data.size() != expected[k].data.size()) {
      return std::numeric_limits<double>::infinity();
    }
    for (size_t i = 0; i < expected[k].data.size(); ++i) {
      difference = std::max(difference, std::abs(actual[k].data[i] - expected[k].data[i]));
      magnitude = std::max(magnitude, std::abs(expected[k].data[i]));
    }
  }
  return difference / magnitude;
}

}  // namespace lathe
