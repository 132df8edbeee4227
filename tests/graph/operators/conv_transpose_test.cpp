// ONNX ConvTranspose: the reference against numbers taken by hand, the network against the reference.
#include <gtest/gtest.h>

#include "graph/network_runner.h"
#include "graph/onnx/import.h"
#include "graph/onnx/models.h"
#include "graph/simplify.h"
#include "network/partition.h"

namespace lathe {
namespace {

Graph import(const OnnxModel& model) { return import_onnx_bytes(model.bytes(), "m.onnx").value(); }

TEST(ConvTranspose, EachElementAddsAKernel) {
  OnnxModel model;
  model.input("x", {1, 1, 3}).initializer("w", {1, 1, 2}, {1, 10}).initializer("b", {1}, {100});
  model.node("n", "ConvTranspose", {"x", "w", "b"}, "y").output("y").attribute("strides", {2});
  const std::vector<Values> whole =
      evaluate_graph(import(model), std::vector<Values>{{{1, 1, 3}, {1, 2, 3}}}).value();
  EXPECT_EQ(whole[0].shape, (Shape{1, 1, 6}));
  EXPECT_EQ(whole[0].data, (std::vector<double>{101, 110, 102, 120, 103, 130}));
  model.attribute("pads", {1, 2}).attribute("output_padding", {1});
  const std::vector<Values> cut =
      evaluate_graph(import(model), std::vector<Values>{{{1, 1, 3}, {1, 2, 3}}}).value();
  EXPECT_EQ(cut[0].data, (std::vector<double>{110, 102, 120, 103}));
}

// With a normalisation behind it, as generators have, and without padding, stride or bias.
TEST(ConvTranspose, ANetworkGivesWhatTheReferenceGives) {
  for (const int64_t stride : {1, 2, 3}) {
    for (const int64_t pad : {0, 1}) {
      OnnxModel model;
      model.input("x", {2, 3, 4, 5}).initializer("w", {3, 4, 3, 4});
      model.node("n", "ConvTranspose", {"x", "w"}, "t");
      model.attribute("strides", {stride, 2}).attribute("pads", {pad, 0, 1, pad});
      model.attribute("output_padding", {stride > 1 ? 1 : 0, 0});
      for (const char* name : {"s", "o", "m"}) model.initializer(name, {4});
      model.initializer("v", {4}, {0.5, 1, 2, 4});
      model.node("bn", "BatchNormalization", {"t", "s", "o", "m", "v"}, "u").node("r", "Relu", {"u"}, "y");
      model.output("y");
      const Graph whole = import(model);
      const Graph graph = simplify(whole);
      EXPECT_EQ(graph.nodes.size(), 2u);  // the normalisation is folded into the weights
      const std::vector<Values> inputs = random_inputs(graph, 5);
      const std::vector<Values> expected = evaluate_graph(whole, inputs).value();
      EXPECT_LE(relative_difference(run_partition(graph, partition(graph).value(), inputs), expected), 1e-6);
    }
  }
}

// 1, 2, 3 and a kernel of 1, 10, whose taps lie apart.
TEST(ConvTranspose, DilationSpreadsTheKernel) {
  OnnxModel model = node_model({1, 1, 3}, "ConvTranspose", {"x", "w"}).initializer("w", {1, 1, 2}, {1, 10});
  model.attribute("dilations", {3}).attribute("strides", {2});
  EXPECT_EQ(run_network(model, {numbered({1, 1, 3})}).data, (std::vector<double>{1, 0, 2, 10, 3, 20, 0, 30}));
}

TEST(ConvTranspose, AGroupOfChannelsGivesItsOwnMaps) {
  OnnxModel model = node_model({1, 4, 1}, "ConvTranspose", {"x", "w"}).attribute("group", 2);
  model.initializer("w", {4, 3, 1}, {1, 2, 3, 10, 20, 30, 1, 0, 0, 0, 1, -1});
  EXPECT_EQ(run_network(model, {{{1, 4, 1}, {1, 2, 3, 4}}}).data,
            (std::vector<double>{21, 42, 63, 3, 4, -4}));
}

// What an output of `extent` is of 1, 2 and a kernel of 1, 1, 1, 1 that moves by 2: of 1 1 3 3 2 2.
std::vector<double> placed(const OnnxModel& base, const char* automatic,
                           std::initializer_list<int64_t> extent) {
  OnnxModel model = base;
  if (automatic != nullptr) model.attribute("auto_pad", automatic);
  if (extent.size() > 0) model.attribute("output_shape", extent);
  return run_network(model, {numbered({1, 1, 2})}).data;
}

TEST(ConvTranspose, PadsFollowFromWhatItGives) {
  OnnxModel model =
      node_model({1, 1, 2}, "ConvTranspose", {"x", "w"}).initializer("w", {1, 1, 4}, {1, 1, 1, 1});
  model.attribute("strides", {2});
  EXPECT_EQ(placed(model, nullptr, {}), (std::vector<double>{1, 1, 3, 3, 2, 2}));
  EXPECT_EQ(placed(model, nullptr, {5}), (std::vector<double>{1, 3, 3, 2, 2}));
  EXPECT_EQ(placed(model, "SAME_UPPER", {5}), (std::vector<double>{1, 1, 3, 3, 2}));
  EXPECT_EQ(placed(model, "SAME_LOWER", {5}), (std::vector<double>{1, 3, 3, 2, 2}));
  EXPECT_EQ(placed(model, "SAME_UPPER", {}), (std::vector<double>{1, 3, 3, 2}));
  EXPECT_EQ(placed(model, "VALID", {}), (std::vector<double>{1, 1, 3, 3, 2, 2}));
  EXPECT_EQ(placed(model, nullptr, {8}), (std::vector<double>{1, 1, 3, 3, 2, 2, 0, 0}));
}

// With groups and dilations along one to three axes, and a normalisation that is folded into the weights.
TEST(ConvTranspose, GroupsOfManyAxesGiveWhatTheReferenceGives) {
  for (size_t axes = 1; axes <= 3; ++axes) {
    for (const int64_t groups : {1, 2, 4}) {
      SCOPED_TRACE(::testing::Message() << axes << " axes, " << groups << " groups");
      Shape shape = {2, 4}, weight = {4, 3};
      for (size_t d = 0; d < axes; ++d) shape.push_back(3 + static_cast<int64_t>(d));
      for (size_t d = 0; d < axes; ++d) weight.push_back(2);
      OnnxModel model;
      model.input("x", shape).initializer("w", weight).node("n", "ConvTranspose", {"x", "w"}, "t");
      model.attribute("group", groups);
      auto& node = *model.proto.mutable_graph()->mutable_node(0);
      for (const char* name : {"strides", "dilations"}) {
        onnx::AttributeProto& list = *node.add_attribute();
        list.set_name(name);
        list.set_type(onnx::AttributeProto_AttributeType_INTS);
        for (size_t d = 0; d < axes; ++d) list.add_ints(name[0] == 's' ? 2 : 1 + static_cast<int64_t>(d));
      }
      for (const char* name : {"s", "o", "m"}) model.initializer(name, {3 * groups});
      model.initializer("v", {3 * groups}, std::vector<float>(static_cast<size_t>(3 * groups), 2));
      model.node("bn", "BatchNormalization", {"t", "s", "o", "m", "v"}, "y").output("y");
      const Graph whole = import(model);
      const Graph graph = simplify(whole);
      EXPECT_EQ(graph.nodes.size(), 1U);
      const std::vector<Values> inputs = random_inputs(graph, 5);
      const std::vector<Values> expected = evaluate_graph(whole, inputs).value();
      EXPECT_LE(relative_difference(run_partition(graph, partition(graph).value(), inputs), expected), 1e-6);
    }
  }
}

TEST(ConvTranspose, NamesWhatIsNotSupported) {
  const auto message = [](const auto& change) {
    OnnxModel model;
    model.input("x", {1, 2, 4}).initializer("w", {2, 1, 3}).node("n", "ConvTranspose", {"x", "w"}, "y");
    model.output("y");
    change(model);
    return import_onnx_bytes(model.bytes(), "m.onnx").error().message;
  };
  EXPECT_EQ(message([](OnnxModel& m) { m.attribute("group", 3); }),
            "node 'n' (ConvTranspose): the 2 channels of [1,2,4] are not 3 groups");
  EXPECT_EQ(
      message([](OnnxModel& m) { m.attribute("output_padding", {2}).attribute("dilations", {2}); }),
      "node 'n' (ConvTranspose): output padding [2] must be at least 0 and less than the strides [1] or "
      "the dilations [2]");
  EXPECT_EQ(message([](OnnxModel& m) { m.attribute("output_shape", {4, 4}); }),
            "node 'n' (ConvTranspose): output_shape [4,4] has 2 entries for 1 spatial axes");
  EXPECT_EQ(message([](OnnxModel& m) { m.attribute("output_shape", {0}); }),
            "node 'n' (ConvTranspose): output_shape is [0]");
  EXPECT_EQ(message([](OnnxModel& m) { m.attribute("pads", {3, 3}); }),
            "node 'n' (ConvTranspose): its pads leave nothing of spatial axis 0, which has 6");
}

TEST(ConvTranspose, NamesAnOutputShapeOfAnotherRank) {
  OnnxModel model;
  model.input("x", {1, 1, 3, 3}).initializer("w", {1, 1, 2, 2});
  model.node("n", "ConvTranspose", {"x", "w"}, "y").attribute("output_shape", {4}).output("y");
  EXPECT_NE(import_error(model), "imported");
}

}  // namespace
}  // namespace lathe
