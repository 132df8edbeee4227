#include "graph/onnx/models.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <numeric>
#include <sstream>

#include "folders.h"

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

OnnxModel& OnnxModel::runtime_node(const std::string& name, const std::string& type,
                                   const std::vector<std::string>& inputs, const std::string& output) {
  node(name, type, inputs, output);
  proto.mutable_graph()->mutable_node()->rbegin()->set_domain("com.microsoft");
  return *this;
}

OnnxModel& OnnxModel::integer(const std::string& name, int type, int32_t value) {
  onnx::TensorProto& tensor = *proto.mutable_graph()->add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(type);
  tensor.add_int32_data(value);
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

OnnxModel& OnnxModel::attribute(const std::string& name, const OnnxModel& body) {
  onnx::AttributeProto& attribute = *proto.mutable_graph()->mutable_node()->rbegin()->add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto_AttributeType_GRAPH);
  *attribute.mutable_g() = body.proto.graph();
  return *this;
}

OnnxModel& OnnxModel::attribute(const std::string& name, std::initializer_list<int64_t> values) {
  onnx::AttributeProto& attribute = add_attribute(proto, name, onnx::AttributeProto_AttributeType_INTS);
  for (int64_t value : values) attribute.add_ints(value);
  return *this;
}

OnnxModel node_model(const Shape& shape, const char* type, const std::vector<std::string>& inputs) {
  OnnxModel model;
  model.input("x", shape).node("n", type, inputs, "y").output("y");
  return model;
}

OnnxModel small_conv_model() {
  OnnxModel model;
  model.input("x", {1, 2, 5, 5}).initializer("w", {4, 2, 3, 3}).initializer("b", {4});
  model.node("first", "Conv", {"x", "w", "b"}, "t").attribute("pads", {1, 1, 1, 1});
  model.node("second", "Relu", {"t"}, "y").output("y");
  return model;
}

namespace {

// out = x * w + b, of 8 channels.
void add_linear(OnnxModel& model, const std::string& name, const std::string& x, const std::string& out) {
  model.initializer(name + ".w", {8, 8}).initializer(name + ".b", {8});
  model.node(name + ".product", "MatMul", {x, name + ".w"}, name + ".t");
  model.node(name, "Add", {name + ".t", name + ".b"}, out);
}

// x [1,6,8] as two heads, in this order of the axes.
void add_heads(OnnxModel& model, const std::string& x, const std::string& out,
               std::initializer_list<int64_t> order) {
  model.node(x + ".split", "Reshape", {x, "heads"}, x + ".heads");
  model.node(x + ".turn", "Transpose", {x + ".heads"}, out).attribute("perm", order);
}

void add_norm(OnnxModel& model, const std::string& x, const std::string& out) {
  model.initializer(out + ".scale", {8}).initializer(out + ".shift", {8});
  model.node(out, "LayerNormalization", {x, out + ".scale", out + ".shift"}, out);
}

void add_embeddings(OnnxModel& model) {
  model.input("tokens", {1, 6}, onnx::TensorProto_DataType_INT64).integers("zero", Shape{}, {0});
  model.initializer("words", {11, 8}).initializer("places", {6, 8});
  model.node("look_up", "Gather", {"words", "tokens"}, "embedded");
  model.node("place", "Add", {"embedded", "places"}, "placed");
  add_norm(model, "placed", "x");
  model.node("is_padding", "Equal", {"tokens", "zero"}, "padding");
  model.integers("mask_shape", {1, 1, 1, 6}).initializer("none", {}, {0}).initializer("least", {}, {-1e30F});
  model.node("mask_row", "Reshape", {"padding", "mask_shape"}, "padding_row");
  model.node("mask", "Where", {"padding_row", "least", "none"}, "masked");
}

void add_attention(OnnxModel& model) {
  model.integers("heads", {1, 6, 2, 4}).integers("joined", {1, 6, 8}).initializer("width", {}, {2});
  for (const char* name : {"query", "key", "value"}) add_linear(model, name, "x", name);
  add_heads(model, "query", "q", {0, 2, 1, 3});
  add_heads(model, "key", "k", {0, 2, 3, 1});
  add_heads(model, "value", "v", {0, 2, 1, 3});
  model.node("scores", "MatMul", {"q", "k"}, "s").node("scale", "Div", {"s", "width"}, "scaled");
  model.node("hide", "Add", {"scaled", "masked"}, "hidden").node("weigh", "Softmax", {"hidden"}, "p");
  model.attribute("axis", -1).node("attend", "MatMul", {"p", "v"}, "a");
  model.node("turn", "Transpose", {"a"}, "turned").attribute("perm", {0, 2, 1, 3});
  model.node("join", "Reshape", {"turned", "joined"}, "attended");
}

}  // namespace

OnnxModel small_bert_model() {
  OnnxModel model;
  add_embeddings(model);
  add_attention(model);
  add_linear(model, "mix", "attended", "mixed");
  model.node("residual", "Add", {"mixed", "x"}, "sum");
  add_norm(model, "sum", "normed");
  add_linear(model, "up", "normed", "u");
  model.initializer("root", {}, {1.41421356F}).initializer("one", {}, {1}).initializer("half", {}, {0.5F});
  model.node("g1", "Div", {"u", "root"}, "g.a").node("g2", "Erf", {"g.a"}, "g.b");
  model.node("g3", "Add", {"g.b", "one"}, "g.c").node("g4", "Mul", {"u", "g.c"}, "g.d");
  model.node("g5", "Mul", {"g.d", "half"}, "g");
  add_linear(model, "down", "g", "d");
  model.node("residual2", "Add", {"d", "normed"}, "sum2");
  add_norm(model, "sum2", "y");
  return std::move(model.output("y"));
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
      if (std::isnan(actual[k].data[i]) != std::isnan(expected[k].data[i]))
        return std::numeric_limits<double>::infinity();
      difference = std::max(difference, std::abs(actual[k].data[i] - expected[k].data[i]));
      magnitude = std::max(magnitude, std::abs(expected[k].data[i]));
    }
  }
  return difference / magnitude;
}

}  // namespace lathe
