#include "graph/onnx/inputs.h"

#include <gtest/gtest.h>

#include "graph/onnx/import.h"
#include "graph/onnx/models.h"
#include "graph/reference.h"

namespace lathe {
namespace {

// Outputs of an artifact are told apart by names, and exporters list what a module returns twice two times.
TEST(OnnxInputs, AnOutputThatIsListedTwiceIsGivenAgain) {
  OnnxModel model;
  model.input("x", {4}).node("r", "Relu", {"x"}, "y").node("n", "Neg", {"x"}, "y.2");
  model.output("y").output("y").output("y.2").output("y");
  const Graph graph = import_onnx_bytes(model.bytes(), "m.onnx").value();
  std::vector<std::string> names;
  for (const TensorId id : graph.outputs) names.push_back(graph.tensor(id).name);
  EXPECT_EQ(names, (std::vector<std::string>{"y", "y.3", "y.2", "y.4"}));
  const std::vector<Values> outputs =
      evaluate_graph(graph, std::vector<Values>{{{4}, {-1, 2, -3, 4}, DType::f32}}).value();
  EXPECT_EQ(outputs[0].data, (std::vector<double>{0, 2, 0, 4}));
  EXPECT_EQ(outputs[1].data, outputs[0].data);
  EXPECT_EQ(outputs[3].data, outputs[0].data);
  EXPECT_EQ(outputs[2].data, (std::vector<double>{1, -2, 3, -4}));
  EXPECT_EQ(graph.notes,
            (std::vector<std::string>{"m.onnx: output 'y' is listed more than once: 'y.3' is it again",
                                      "m.onnx: output 'y' is listed more than once: 'y.4' is it again"}));
}

}  // namespace
}  // namespace lathe
