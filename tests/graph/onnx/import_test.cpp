#include "graph/onnx/import.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "graph/network_runner.h"
#include "graph/onnx/models.h"
#include "graph/simplify.h"

namespace lathe {
namespace {

std::string located_error(const OnnxModel& model, const OnnxImportOptions& options = {}) {
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
  return located_error(model);
}

std::string node_error(const std::string& type, const std::vector<std::string>& inputs) {
  return node_error(type, inputs, [](OnnxModel&) {});
}

// What the simplified network gives, run task by task.
std::vector<Values> run_simplified(const Graph& graph, const std::vector<Values>& inputs) {
  const Graph simplified = simplify(graph);
  EXPECT_TRUE(verify(simplified));
  return run_partition(simplified, *partition(simplified), inputs);
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
  const std::filesystem::path path = std::filesystem::path(::testing::TempDir()) / "lathe_import_test.onnx";
  std::ofstream(path, std::ios::binary) << small_conv_model().bytes();
  EXPECT_TRUE(import_onnx(path.string()));
  std::filesystem::remove(path);
  const Result<Graph> missing = import_onnx("no/such.onnx");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().to_string(), "no/such.onnx: there is no such file");
  EXPECT_EQ(missing.error().kind, ErrorKind::not_found);
  const Result<Graph> folder = import_onnx(::testing::TempDir());
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
  EXPECT_EQ(located_error(model), "m.onnx: the model uses ONNX operator set 99, and Lathe supports 1 to 28");
  model.proto.add_opset_import()->set_version(17);
  EXPECT_EQ(import_error(model), "the model uses two ONNX operator sets, 99 and 17");
  model.proto.clear_opset_import();
  EXPECT_EQ(located_error(model), "m.onnx: the model does not say which ONNX operator set it uses");
  OnnxModel training;
  training.proto.mutable_opset_import(0)->set_domain("ai.onnx.preview.training");
  training.input("x", {2}).node("n", "Adam", {"x"}, "y").output("y");
  training.proto.mutable_graph()->mutable_node(0)->set_domain("ai.onnx.preview.training");
  EXPECT_EQ(
      import_error(training),
      "Lathe does not support the node type 'ai.onnx.preview.training.Adam' (node 'n') of the model, whose "
      "operator set is ai.onnx.preview.training 17");
}

TEST(OnnxImport, NamesWhatIsWrongWithANode) {
  EXPECT_EQ(node_error("Relu", {"z"}),
            "m.onnx: node 'n' (Relu): it reads 'z', which no input, initializer or earlier node gives");
  EXPECT_EQ(node_error("Conv", {"x"}), "m.onnx: node 'n' (Conv): it has 1 input, and takes 2 to 3");
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
            "m.onnx: node 'n' (Reshape): input 1, 'x', is an input of the model, and Lathe supports a "
            "constant there");
}

TEST(OnnxImport, NamesAnUnusableInput) {
  OnnxModel model = small_conv_model();
  auto* tensor = model.proto.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(onnx::TensorProto_DataType_STRING);
  EXPECT_EQ(located_error(model),
            "m.onnx: input 'x' has the element type STRING, which Lathe does not support");
  tensor->set_elem_type(onnx::TensorProto_DataType_DOUBLE);
  EXPECT_EQ(located_error(model),
            "m.onnx: node 'first' (Conv): input 1 is of type f32, and Lathe supports f64 here");
  model.proto.mutable_graph()->mutable_input(0)->mutable_type()->clear_tensor_type();
  EXPECT_EQ(located_error(model), "m.onnx: input 'x' is not a tensor, and Lathe supports tensors");
}

TEST(OnnxImport, NamesAnUnusableInitializer) {
  OnnxModel model = small_conv_model();
  onnx::TensorProto& weight = *model.proto.mutable_graph()->mutable_initializer(0);
  weight.set_raw_data("1234");
  EXPECT_EQ(located_error(model), "m.onnx: initializer 'w' has 4 bytes of data, and f32[4,2,3,3] takes 288");
  weight.clear_raw_data();
  EXPECT_EQ(located_error(model), "m.onnx: initializer 'w' has no data");
  weight.set_dims(0, -4);
  EXPECT_EQ(located_error(model),
            "m.onnx: initializer 'w' has shape [-4,2,3,3], and every extent must be at least 1");
}

TEST(OnnxImport, NamesAnOutputThatNothingComputes) {
  OnnxModel model = small_conv_model();
  model.output("nothing");
  EXPECT_EQ(located_error(model), "m.onnx: no node gives the model's output 'nothing'");
  model.proto.mutable_graph()->clear_output();
  EXPECT_EQ(located_error(model), "m.onnx: the model has no outputs");
}

TEST(OnnxImport, GivesInputsAndConstantsAsOutputs) {
  OnnxModel model;
  model.input("x", {3}).initializer("w", {2}, {5, 7}).node("n", "Shape", {"x"}, "s");
  model.node("m", "Relu", {"x"}, "y").output("x").output("y").output("w").output("s");
  const Result<Graph> graph = import_onnx_bytes(model.bytes(), "m.onnx");
  ASSERT_TRUE(graph) << graph.error().to_string();
  EXPECT_TRUE(verify(*graph));
  std::vector<std::string> names;
  for (const TensorId id : graph->outputs) names.push_back(graph->tensor(id).name);
  EXPECT_EQ(names, (std::vector<std::string>{"x", "y", "w", "s"}));
  const std::vector<Values> outputs = run_simplified(*graph, {{{3}, {-1, 2, 3}}});
  ASSERT_EQ(outputs.size(), 4u);
  EXPECT_EQ(outputs[0].data, (std::vector<double>{-1, 2, 3}));
  EXPECT_EQ(outputs[1].data, (std::vector<double>{0, 2, 3}));
  EXPECT_EQ(outputs[2].data, (std::vector<double>{5, 7}));
  EXPECT_EQ(outputs[3].data, (std::vector<double>{3}));
}

TEST(OnnxImport, NotesAnOutputThatIsDeclaredOtherwise) {
  const auto notes = [](const Shape& declared, const OnnxImportOptions& options) {
    OnnxModel model = small_conv_model();
    auto& tensor = *model.proto.mutable_graph()->mutable_output(0)->mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(onnx::TensorProto_DataType_FLOAT);
    for (const int64_t extent : declared) {
      auto& dim = *tensor.mutable_shape()->add_dim();
      if (extent > 0) dim.set_dim_value(extent);
    }
    return simplify(*import_onnx_bytes(model.bytes(), "m.onnx", options)).notes;
  };
  EXPECT_EQ(notes({1, -1, 6, 5}, {}),
            std::vector<std::string>{"m.onnx: output 'y' is declared as f32[1,?,6,5], and what the model "
                                     "computes is f32[1,4,5,5]"});
  EXPECT_EQ(notes({1, 4, 25}, {}).size(), 1u);
  EXPECT_EQ(notes({-1, 4, 5, 5}, {}), std::vector<std::string>{});
  EXPECT_EQ(notes({1, 4, 5, 5}, {.input_shapes = {{"x", {1, 2, 7, 7}}}}), std::vector<std::string>{});
}

TEST(OnnxImport, TakesAnOutputThatIsACastOf16Bits) {
  OnnxModel model;
  model.input("x", {2}).initializer("w", {40});
  onnx::TensorProto& weight = *model.proto.mutable_graph()->mutable_initializer(0);
  weight.set_data_type(onnx::TensorProto_DataType_BFLOAT16);
  weight.set_raw_data(std::string(80, '\0'));
  model.node("n", "Cast", {"w"}, "y").attribute("to", onnx::TensorProto_DataType_FLOAT).output("y");
  const Result<Graph> graph = import_onnx_bytes(model.bytes(), "m.onnx");
  ASSERT_TRUE(graph) << graph.error().to_string();
  EXPECT_EQ(to_string(graph->tensor(graph->outputs[0]).type), "f32[40]");
}

TEST(OnnxImport, TellsAnInputFromWhatIsComputed) {
  OnnxModel model;
  model.input("x", {4}).input("shape", {2}, onnx::TensorProto_DataType_INT64);
  model.node("n", "Reshape", {"x", "shape"}, "y").output("y");
  EXPECT_EQ(located_error(model),
            "m.onnx: node 'n' (Reshape): input 1, 'shape', is an input of the model, and Lathe supports a "
            "constant there");
}

TEST(OnnxImport, AGraphWithoutANameIsCalledAsItsFile) {
  OnnxModel model = small_conv_model();
  model.proto.mutable_graph()->clear_name();
  const Result<Graph> graph = import_onnx_bytes(model.bytes(), "nets/small.onnx");
  ASSERT_TRUE(graph) << graph.error().to_string();
  EXPECT_EQ(graph->name, "small");
}

TEST(OnnxImport, NamesAnInputWithoutElements) {
  OnnxModel model = small_conv_model();
  auto* shape =
      model.proto.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  shape->mutable_dim(2)->set_dim_value(0);
  EXPECT_EQ(
      import_error(model),
      "node 'first' (Conv): input 0, 'x', has no elements, which Lathe does not support there; input 'x' has "
      "none, and another shape may be given, such as --input x=1,2,1,5");
  EXPECT_TRUE(import_onnx_bytes(model.bytes(), "m.onnx", {{{"x", {1, 2, 5, 5}}}}).has_value());
}

TEST(OnnxImport, TakesShapesOfDynamicInputs) {
  OnnxModel model = small_conv_model();
  auto* shape =
      model.proto.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  shape->mutable_dim(0)->set_dim_param("N");
  EXPECT_EQ(located_error(model),
            "m.onnx: input 'x' has the dynamic dimension 'N', so its shape must be given, such as --input "
            "x=1,2,5,5");
  const Result<Graph> graph = import_onnx_bytes(model.bytes(), "m.onnx", {{{"x", {3, 2, 7, 5}}}});
  ASSERT_TRUE(graph) << graph.error().to_string();
  EXPECT_EQ(to_string(graph->tensors[graph->outputs[0]].type), "f32[3,4,7,5]");
  EXPECT_EQ(located_error(model, {{{"x", {3, 2, 7}}}}),
            "m.onnx: input 'x' has 4 dimensions, and the shape given for it, [3,2,7], has 3");
  OnnxModel row;
  row.input("x", {4}).node("n", "Relu", {"x"}, "y").output("y");
  EXPECT_EQ(located_error(row, {{{"x", {3, 2}}}}),
            "m.onnx: input 'x' has 1 dimension, and the shape given for it, [3,2], has 2");
  EXPECT_EQ(
      located_error(model, {{{"x", {3, 2, 0, 5}}}}),
      "m.onnx: node 'first' (Conv): input 0, 'x', has no elements, which Lathe does not support there; input "
      "'x' has none, and another shape may be given, such as --input x=3,2,1,5");
  EXPECT_EQ(located_error(model, {{{"x", {3, 2, 7, 5}}, {"q", {1}}}}),
            "m.onnx: the model has no input 'q', for which a shape is given; it has 'x'");
  EXPECT_EQ(located_error(model, {{{"q", {3, 2, 7, 5}}}}),
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

// The shape that a Reshape of x [2,3,4] to the integers `target` gives, or why there is none; `configure`
// adds the nodes that compute `target`.
template <class Configure>
std::string reshaped(Configure configure) {
  OnnxModel model;
  model.input("x", {2, 3, 4}).integers("minus", {-1}).integers("zero", {0}).integers("two", {2});
  configure(model);
  model.node("r", "Reshape", {"x", "target"}, "y").output("y");
  const Result<Graph> graph = import_onnx_bytes(model.bytes(), "m.onnx");
  return graph ? to_string(graph->tensors[graph->outputs[0]].type.shape) : graph.error().message;
}

TEST(OnnxImport, ComputesShapesFromShapes) {
  EXPECT_EQ(reshaped([](OnnxModel& m) {
              m.node("s", "Shape", {"x"}, "s").node("p", "Slice", {"s", "zero", "two"}, "p");
              m.node("c", "Concat", {"p", "minus"}, "target").attribute("axis", 0);
            }),
            "[2,3,4]");
  EXPECT_EQ(
      reshaped([](OnnxModel& m) {
        m.node("s", "Shape", {"x"}, "s").integers("one", {}, {1}).node("g", "Gather", {"s", "one"}, "g");
        m.node("u", "Unsqueeze", {"g", "zero"}, "u");
        m.node("c", "Concat", {"minus", "u"}, "target").attribute("axis", 0);
      }),
      "[8,3]");
  EXPECT_EQ(reshaped([](OnnxModel& m) { m.node("s", "Shape", {"x"}, "target").attribute("start", 1); }),
            "node 'r' (Reshape): the shape [3,4] does not hold the 24 elements of [2,3,4]");
  EXPECT_EQ(reshaped([](OnnxModel& m) {
              m.node("s", "Shape", {"x"}, "s").attribute("start", -2).attribute("end", -1);
              m.node("q", "Mul", {"s", "two"}, "q").node("b", "Sub", {"q", "two"}, "b");
              m.node("c", "Concat", {"minus", "b"}, "target").attribute("axis", 0);
            }),
            "[6,4]");
}

TEST(OnnxImport, TakesSumsOfAnyNumberOfOperands) {
  OnnxModel model;
  model.input("a", {2, 3}).input("b", {3}).input("c", {2, 1});
  model.node("s", "Sum", {"a", "b", "c", "a"}, "t").node("one", "Max", {"t"}, "u");
  model.node("m", "Min", {"u", "c"}, "y").output("y");
  const Result<Graph> graph = import_onnx_bytes(model.bytes(), "m.onnx", {});
  ASSERT_TRUE(graph) << graph.error().to_string();
  std::vector<std::string> names;
  for (const GraphNode& node : graph->nodes) names.push_back(node.name);
  EXPECT_EQ(names, (std::vector<std::string>{"s#1", "s#2", "s", "one", "m"}));
  OnnxModel bad;
  bad.input("a", {2}).input("b", {3}).node("s", "Sum", {"a", "a", "b"}, "y").output("y");
  EXPECT_EQ(import_onnx_bytes(bad.bytes(), "m.onnx", {}).error().message,
            "node 's' (Add): the shapes [2] and [3] do not broadcast");
}

TEST(OnnxImport, DividesIntegersTowardsZero) {
  const auto divided = [](int64_t number, int64_t divisor) {
    return reshaped([&](OnnxModel& m) {
      m.integers("number", {number}).integers("divisor", {divisor});
      m.node("d", "Div", {"number", "divisor"}, "d")
          .node("c", "Concat", {"d", "two"}, "target")
          .attribute("axis", 0);
    });
  };
  EXPECT_EQ(divided(25, 2), "[12,2]");
  EXPECT_EQ(divided(7, -4), "[12,2]");  // -1, which Reshape replaces
  EXPECT_EQ(divided(7, 0), "node 'r' (Reshape): the shape [2,2] does not hold the 24 elements of [2,3,4]")
      << "0, for which Reshape takes x's extent";
}

TEST(OnnxImport, ComputesShapesThroughRealsAndSplits) {
  EXPECT_EQ(reshaped([](OnnxModel& m) {
              m.node("s", "Shape", {"x"}, "s").node("f", "Cast", {"s"}, "f").attribute("to", 1);
              m.initializer("scale", {3}, {2, 0.5F, 1.5F}).node("q", "Mul", {"f", "scale"}, "q");
              m.node("i", "Cast", {"q"}, "target").attribute("to", 7);
            }),
            "[4,1,6]");
  EXPECT_EQ(reshaped([](OnnxModel& m) {
              m.integers("parts", {2, 1}).node("s", "Shape", {"x"}, "s");
              m.node("p", "Split", {"s", "parts"}, "a").gives("b");
              m.node("c", "Concat", {"b", "minus"}, "target").attribute("axis", 0);
            }),
            "[4,6]");
}

TEST(OnnxImport, FillsATensorOfAComputedShape) {
  OnnxModel model;
  model.input("x", {2, 3}).node("s", "Shape", {"x"}, "s").node("f", "ConstantOfShape", {"s"}, "f");
  onnx::AttributeProto& value = *model.proto.mutable_graph()->mutable_node(1)->add_attribute();
  value.set_name("value");
  value.set_type(onnx::AttributeProto_AttributeType_TENSOR);
  value.mutable_t()->set_data_type(onnx::TensorProto_DataType_FLOAT);
  value.mutable_t()->add_dims(1);
  value.mutable_t()->add_float_data(2.5F);
  model.node("n", "Sub", {"f", "x"}, "y").output("y");
  EXPECT_EQ(run_network(model, {numbered({2, 3})}).data,
            (std::vector<double>{1.5, .5, -.5, -1.5, -2.5, -3.5}));
  value.mutable_t()->add_float_data(1);
  value.mutable_t()->set_dims(0, 2);
  EXPECT_EQ(import_error(model), "node 'f' (ConstantOfShape): attribute 'value' is not one element");
}

// A Constant node whose only attribute is `attribute`, added to x [3] or, where integers, naming its place.
OnnxModel constant_model(const std::string& name, const std::vector<double>& numbers) {
  OnnxModel model;
  model.input("x", {3}).node("k", "Constant", {}, "k");
  onnx::AttributeProto& value = *model.proto.mutable_graph()->mutable_node(0)->add_attribute();
  value.set_name(name);
  const bool integers = name.starts_with("value_int");
  for (const double number : numbers) {
    if (integers) {
      value.add_ints(static_cast<int64_t>(number));
    } else {
      value.add_floats(static_cast<float>(number));
    }
  }
  if (!name.ends_with('s')) {
    value.clear_ints();
    value.clear_floats();
    value.set_i(static_cast<int64_t>(numbers[0]));
    value.set_f(static_cast<float>(numbers[0]));
  }
  model.node("n", integers ? "Gather" : "Add", {"x", "k"}, "y");
  return std::move(model.output("y"));
}

TEST(OnnxImport, TakesConstantsOfEveryAttributeOfNumbers) {
  const Values x = numbered({3});
  EXPECT_EQ(run_network(constant_model("value_int", {2}), {x}).data, (std::vector<double>{3}));
  EXPECT_EQ(run_network(constant_model("value_int", {2}), {x}).shape, Shape{});
  EXPECT_EQ(run_network(constant_model("value_ints", {2, 1}), {x}).data, (std::vector<double>{3, 2}));
  EXPECT_EQ(run_network(constant_model("value_float", {0.5}), {x}).data,
            (std::vector<double>{1.5, 2.5, 3.5}));
  EXPECT_EQ(run_network(constant_model("value_floats", {1, 0, 2}), {x}).data, (std::vector<double>{2, 2, 5}));
  EXPECT_EQ(import_error(constant_model("value_string", {0})),
            "node 'k' (Constant): it has the attribute 'value_string', which Lathe does not support");
}

TEST(OnnxImport, TakesAnEmptyConstantForAnOperandThatIsLeftOut) {
  OnnxModel model;
  model.operator_set(11)
      .input("x", {1, 2})
      .integers("roi", std::vector<int64_t>{})
      .initializer("s", {2}, {1, 2});
  model.node("n", "Resize", {"x", "roi", "s"}, "y").attribute("coordinate_transformation_mode", "asymmetric");
  model.output("y");
  EXPECT_EQ(run_network(model, {numbered({1, 2})}).data, (std::vector<double>{1, 1, 2, 2}));
}

TEST(OnnxImport, NamesAnEmptyConstantThatIsNeeded) {
  OnnxModel model;
  model.input("x", {2}).integers("none", std::vector<int64_t>{}).node("n", "Tile", {"x", "none"}, "y");
  EXPECT_EQ(import_error(model.output("y")),
            "node 'n' (Tile): input 1, 'none', has no elements, which Lathe does not support there");
  OnnxModel first;
  first.input("x", {2}).initializer("none", {0}).node("n", "Transpose", {"none"}, "y");
  EXPECT_EQ(import_error(first.output("y")),
            "output 'y' has shape [0], which has no elements, and there is no other to compute");
}

TEST(OnnxImport, JoinsWhatHasElements) {
  OnnxModel model;
  model.input("x", {2}).initializer("none", {0}).integers("zero", {0}).integers("two", {2});
  model.node("s", "Slice", {"x", "zero", "zero"}, "part");
  model.node("n", "Concat", {"none", "x", "part", "x"}, "y").attribute("axis", 0).output("y");
  EXPECT_EQ(run_network(model, {numbered({2})}).data, (std::vector<double>{1, 2, 1, 2}));
  OnnxModel parts;
  parts.input("x", {2}).integers("sizes", {2, 0}).node("n", "Split", {"x", "sizes"}, "y").gives("rest");
  EXPECT_EQ(run_network(parts.attribute("axis", 0).output("y"), {numbered({2})}).data,
            (std::vector<double>{1, 2}));
  const Result<Graph> both = import_onnx_bytes(parts.output("rest").bytes(), "m");
  ASSERT_TRUE(both) << both.error().to_string();
  EXPECT_EQ(both->outputs.size(), 1U);
  EXPECT_EQ(both->notes,
            (std::vector<std::string>{"m: output 'rest' has shape [0], which has no elements: no such "
                                      "output is given"}));
}

}  // namespace
}  // namespace lathe
