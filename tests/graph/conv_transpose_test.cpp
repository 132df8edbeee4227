// ONNX ConvTranspose: the reference against numbers taken by hand, the network against the reference.
#include <gtest/gtest.h>

#include "graph/network_runner.h"
#include "graph/onnx_import.h"
#include "graph/onnx_models.h"
#include "graph/partition.h"
#include "graph/simplify.h"

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

TEST(ConvTranspose, NamesWhatIsNotSupported) {
  const auto message = [](const auto& change) {
    OnnxModel model;
    model.input("x", {1, 2, 4}).initializer("w", {2, 1, 3}).node("n", "ConvTranspose", {"x", "w"}, "y");
    model.output("y");
    change(model);
    return import_onnx_bytes(model.bytes(), "m.onnx").error().message;
  };
  EXPECT_EQ(message([](OnnxModel& m) { m.attribute("group", 2); }),
            "node 'n' (ConvTranspose): attribute 'group' is 2, and Lathe supports 1");
  EXPECT_EQ(message([](OnnxModel& m) { m.attribute("dilations", {2}); }),
            "node 'n' (ConvTranspose): attribute 'dilations' is 2, and Lathe supports 1");
  EXPECT_EQ(message([](OnnxModel& m) { m.attribute("output_padding", {1}); }),
            "node 'n' (ConvTranspose): output padding [1] must be at least 0 and less than the strides [1]");
  EXPECT_EQ(message([](OnnxModel& m) { m.attribute("pads", {3, 3}); }),
            "node 'n' (ConvTranspose): its pads leave nothing of spatial axis 0, which has 6");
}

}  // namespace
}  // namespace lathe
