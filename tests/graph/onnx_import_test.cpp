#include "graph/onnx_import.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "graph/onnx_models.h"

namespace lathe {
namespace {

std::string import_error(const OnnxModel& model, const OnnxImportOptions& options = {}) {
  const Result<Graph> graph = import_onnx_bytes(model.bytes(), "m.onnx", options);
  return graph ? "imported" : graph.error().to_string();
}

std::string bytes_error(const std::string& bytes) {
  const Result<Graph> graph = import_onnx_bytes(bytes, "m.onnx");
  return graph ? "imported" : graph.error().to_string();
}

// The error for a model of one node `n` of this type that reads x [1,2,5,5].
template <class Configure>
std::string node_error(const std::string& type, const std::vector<std::string>& inputs, Configure configure) {
  OnnxModel model;
  model.input("x", {1, 2, 5, 5})
      .initializer("w", {4, 2, 3, 3})
      .initializer("b", {4})
      .integers("shape", {1, -1});
  model.node("n", type, inputs, "y").output("y");
  configure(model);
  return import_error(model);
}

std::string node_error(const std::string& type, const std::vector<std::string>& inputs) {
  return node_error(type, inputs, [](OnnxModel&) {});
}

TEST(OnnxImport, ReadsNodesTypesAndConstants) {
  const Result<Graph> graph = import_onnx_bytes(small_conv_model().bytes(), "m.onnx");
  ASSERT_TRUE(graph) << graph.error().to_string();
  EXPECT_EQ(to_string(*graph),
            "graph test\n"
            "  input x f32[1,2,5,5]\n"
            "  constant w f32[4,2,3,3]\n"
            "  constant b f32[4]\n"
            "  t f32[1,4,5,5] = Conv(kernel [3,3], pads [1,1,1,1]) of x, w, b\n"
            "  y f32[1,4,5,5] = Relu() of t\n"
            "  output y\n");
  EXPECT_TRUE(verify(*graph));
}

TEST(OnnxImport, ReadsAFile) {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "lathe_import_test.onnx";
  std::ofstream(path, std::ios::binary) << small_conv_model().bytes();
  EXPECT_TRUE(import_onnx(path.string()));
  std::filesystem::remove(path);
  const Result<Graph> missing = import_onnx("no/such.onnx");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().to_string(), "no/such.onnx: there is no such file");
  EXPECT_EQ(missing.error().kind, ErrorKind::not_found);
  const Result<Graph> folder = import_onnx(testing::TempDir());
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().message, "it is a folder, not a model");
}

TEST(OnnxImport, TellsGarbageFromTruncation) {
  EXPECT_EQ(bytes_error(""), "m.onnx: the file is empty");
  EXPECT_EQ(bytes_error("a text file, not a model\n"), "m.onnx: it is not an ONNX model");
  EXPECT_EQ(bytes_error(std::string(1000, '\0')), "m.onnx: it is not an ONNX model");
  EXPECT_EQ(bytes_error(std::string("PK\x03\x04 a zip archive")), "m.onnx: it is not an ONNX model");
  const std::string whole = small_conv_model().bytes();
  EXPECT_EQ(bytes_error(whole.substr(0, whole.size() / 2)), "m.onnx: the ONNX model is truncated");
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_NE(bytes_error(whole.substr(0, size)), "imported") << size;
  }
}

TEST(OnnxImport, SurvivesDamage) {
  const std::string whole = small_conv_model().bytes();
  Rng rng(3);
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = whole;
    for (uint64_t i = 0; i <= rng.below(3); ++i)
      damaged[rng.below(damaged.size())] = static_cast<char>(rng.below(256));
    const Result<Graph> graph = import_onnx_bytes(damaged, "m.onnx");
    EXPECT_TRUE(!graph || verify(*graph));
  }
}

TEST(OnnxImport, ChecksTheOperatorSet) {
  OnnxModel model = small_conv_model();
  model.proto.mutable_opset_import(0)->set_version(99);
  EXPECT_EQ(import_error(model), "m.onnx: the model uses ONNX operator set 99, and Lathe supports 7 to 23");
  model.proto.clear_opset_import();
  EXPECT_EQ(import_error(model), "m.onnx: the model does not say which ONNX operator set it uses");
}

TEST(OnnxImport, NamesAnUnsupportedNode) {
  EXPECT_EQ(node_error("Foo", {"x"}), "m.onnx: node 'n' has type 'Foo', which Lathe does not support");
  EXPECT_EQ(
      node_error("Relu", {"x"},
                 [](OnnxModel& m) { m.proto.mutable_graph()->mutable_node(0)->set_domain("com.acme"); }),
      "m.onnx: node 'n' has type 'com.acme.Relu', which Lathe does not support");
  EXPECT_EQ(
      node_error("Foo", {"x"}, [](OnnxModel& m) { m.proto.mutable_graph()->mutable_node(0)->clear_name(); }),
      "m.onnx: node 'y' has type 'Foo', which Lathe does not support");
}

TEST(OnnxImport, NamesWhatIsWrongWithANode) {
  EXPECT_EQ(node_error("Relu", {"z"}),
            "m.onnx: node 'n' (Relu): it reads 'z', which no input, initializer or earlier node gives");
  EXPECT_EQ(node_error("Conv", {"x"}), "m.onnx: node 'n' (Conv): it has 1 inputs, and takes 2 to 3");
  EXPECT_EQ(node_error("Relu", {"x"}, [](OnnxModel& m) { m.attribute("slope", 1); }),
            "m.onnx: node 'n' (Relu): it has the attribute 'slope', which Lathe does not support");
  EXPECT_EQ(node_error("Conv", {"x", "w"}, [](OnnxModel& m) { m.attribute("strides", "two"); }),
            "m.onnx: node 'n' (Conv): attribute 'strides' is not a list of integers");
  EXPECT_EQ(node_error("Conv", {"x", "w"}, [](OnnxModel& m) { m.attribute("strides", {1, 0}); }),
            "m.onnx: node 'n' (Conv): strides [1,0] has an entry that is not within 1 .. 1073741824");
  EXPECT_EQ(node_error("Conv", {"x", "w"}, [](OnnxModel& m) { m.attribute("auto_pad", "ROUND"); }),
            "m.onnx: node 'n' (Conv): attribute 'auto_pad' is 'ROUND', which Lathe does not support");
  EXPECT_EQ(node_error("Conv", {"x", "w"}, [](OnnxModel& m) { m.attribute("dilations", {3, 1}); }),
            "m.onnx: node 'n' (Conv): the kernel reaches over 7 elements of spatial axis 0, which has 5 with "
            "its padding");
  EXPECT_EQ(node_error("Conv", {"x", "w"}, [](OnnxModel& m) { m.attribute("group", 2); }),
            "m.onnx: node 'n' (Conv): data [1,2,5,5] and weight [4,2,3,3] do not fit 2 group(s)");
  EXPECT_EQ(node_error("Gemm", {"x", "w"}),
            "m.onnx: node 'n' (Gemm): its operands have shapes [1,2,5,5] and [4,2,3,3], and Lathe supports "
            "two matrices");
  EXPECT_EQ(node_error("Add", {"x", "b"}),
            "m.onnx: node 'n' (Add): the shapes [1,2,5,5] and [4] do not broadcast");
  EXPECT_EQ(node_error("MaxPool", {"x"}),
            "m.onnx: node 'n' (MaxPool): it lacks the attribute 'kernel_shape'");
  EXPECT_EQ(
      node_error("Reshape", {"x", "shape"},
                 [](OnnxModel& m) { m.proto.mutable_graph()->mutable_initializer(2)->set_int64_data(0, 7); }),
      "m.onnx: node 'n' (Reshape): the shape [7,-1] does not hold the 50 elements of [1,2,5,5]");
  EXPECT_EQ(
      node_error("Reshape", {"x", "shape"},
                 [](OnnxModel& m) {
                   m.proto.mutable_graph()->mutable_initializer(2)->set_int64_data(0, INT64_MAX);
                 }),
      "m.onnx: node 'n' (Reshape): input 1, 'shape', holds 9.22337e+18, and Lathe supports integers up to "
      "2^53 there");
  EXPECT_EQ(node_error("Reshape", {"x", "x"}),
            "m.onnx: node 'n' (Reshape): input 1, 'x', is computed, and Lathe supports a constant there");
}

TEST(OnnxImport, NamesAnUnusableInput) {
  OnnxModel model = small_conv_model();
  auto* tensor = model.proto.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(onnx::TensorProto_DataType_STRING);
  EXPECT_EQ(import_error(model),
            "m.onnx: input 'x' has the element type STRING, which Lathe does not support");
  tensor->set_elem_type(onnx::TensorProto_DataType_DOUBLE);
  EXPECT_EQ(import_error(model),
            "m.onnx: node 'first' (Conv): input 0 is of type f64, and Lathe supports f32 here");
  model.proto.mutable_graph()->mutable_input(0)->mutable_type()->clear_tensor_type();
  EXPECT_EQ(import_error(model), "m.onnx: input 'x' is not a tensor, and Lathe supports tensors");
}

TEST(OnnxImport, NamesAnUnusableInitializer) {
  OnnxModel model = small_conv_model();
  onnx::TensorProto& weight = *model.proto.mutable_graph()->mutable_initializer(0);
  weight.set_raw_data("1234");
  EXPECT_EQ(import_error(model), "m.onnx: initializer 'w' has 4 bytes of data, and f32[4,2,3,3] takes 288");
  weight.clear_raw_data();
  EXPECT_EQ(import_error(model), "m.onnx: initializer 'w' has no data");
  weight.set_dims(0, -4);
  EXPECT_EQ(import_error(model),
            "m.onnx: initializer 'w' has shape [-4,2,3,3], and every extent must be at least 1");
  weight.set_data_location(onnx::TensorProto_DataLocation_EXTERNAL);
  EXPECT_EQ(import_error(model),
            "m.onnx: initializer 'w' keeps its data in another file, which Lathe does not support");
}

TEST(OnnxImport, NamesAnOutputThatNothingComputes) {
  OnnxModel model = small_conv_model();
  model.output("nothing");
  EXPECT_EQ(import_error(model), "m.onnx: no node gives the model's output 'nothing'");
  model.proto.mutable_graph()->mutable_output(1)->set_name("x");
  EXPECT_EQ(import_error(model),
            "m.onnx: output 'x' is an input of the graph itself, and Lathe supports outputs of nodes");
  model.proto.mutable_graph()->mutable_output(1)->set_name("y");
  EXPECT_EQ(import_error(model), "m.onnx: output 'y' is listed twice");
  model.proto.mutable_graph()->clear_output();
  EXPECT_EQ(import_error(model), "m.onnx: the model has no outputs");
}

TEST(OnnxImport, TakesShapesOfDynamicInputs) {
  OnnxModel model = small_conv_model();
  auto* shape =
      model.proto.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  shape->mutable_dim(0)->set_dim_param("N");
  EXPECT_EQ(
      import_error(model),
      "m.onnx: input 'x' has the dynamic dimension 'N', so its shape must be given (--input x=?,2,5,5)");
  const Result<Graph> graph = import_onnx_bytes(model.bytes(), "m.onnx", {{{"x", {3, 2, 7, 5}}}});
  ASSERT_TRUE(graph) << graph.error().to_string();
  EXPECT_EQ(to_string(graph->tensors[graph->outputs[0]].type), "f32[3,4,7,5]");
  EXPECT_EQ(import_error(model, {{{"x", {3, 2, 7}}}}),
            "m.onnx: input 'x' has 4 dimensions, and the shape given for it, [3,2,7], has 3");
  EXPECT_EQ(import_error(model, {{{"x", {3, 2, 0, 5}}}}),
            "m.onnx: tensor 'x' has shape [3,2,0,5], and every extent must be at least 1");
  EXPECT_EQ(import_error(model, {{{"x", {3, 2, 7, 5}}, {"q", {1}}}}),
            "m.onnx: the model has no input 'q', for which a shape is given; it has 'x'");
}

TEST(OnnxImport, TakesConstantNodesInitializersListedAsInputsAndTypedData) {
  OnnxModel model;
  model.input("x", {2, 3}).input("b", {3}).initializer("b", {3}, {1, 2, 3});
  onnx::TensorProto& data = *model.proto.mutable_graph()->mutable_initializer(0);
  data.clear_raw_data();
  for (float value : {4.0F, 5.0F, 6.0F}) data.add_float_data(value);
  model.node("k", "Constant", {}, "shape");
  onnx::AttributeProto& value = *model.proto.mutable_graph()->mutable_node(0)->add_attribute();
  value.set_name("value");
  value.set_type(onnx::AttributeProto_AttributeType_TENSOR);
  value.mutable_t()->set_data_type(onnx::TensorProto_DataType_INT64);
  value.mutable_t()->add_dims(2);
  value.mutable_t()->add_int64_data(0);
  value.mutable_t()->add_int64_data(-1);
  model.node("a", "Add", {"x", "b"}, "s").node("r", "Reshape", {"s", "shape"}, "y").output("y");
  const Result<Graph> graph = import_onnx_bytes(model.bytes(), "m.onnx");
  ASSERT_TRUE(graph) << graph.error().to_string();
  EXPECT_EQ(graph->inputs.size(), 1U);
  const std::vector<Values> inputs{{{2, 3}, {0, 0, 0, 1, 1, 1}}};
  const Result<std::vector<Values>> outputs = evaluate_graph(*graph, inputs);
  ASSERT_TRUE(outputs) << outputs.error().to_string();
  EXPECT_EQ(outputs->at(0).data, (std::vector<double>{4, 5, 6, 5, 6, 7}));
}

}  // namespace
}  // namespace lathe
