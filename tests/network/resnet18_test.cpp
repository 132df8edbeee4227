// The whole of ResNet-18 through import, simplification, fusion and partition.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "folders.h"
#include "graph/network_runner.h"
#include "graph/onnx/import.h"
#include "graph/onnx/models.h"
#include "graph/simplify.h"
#include "network/partition.h"

namespace lathe {
namespace {

// Height and width of the image.
constexpr int64_t kFull = 224;
constexpr int64_t kSmall = 32;

const Graph& resnet18(int64_t size) {
  static const std::string bytes = resnet18_bytes();
  static std::map<int64_t, Graph> graphs;
  if (!graphs.contains(size))
    graphs[size] = import_onnx_bytes(bytes, "resnet18.onnx", {{{"input", {1, 3, size, size}}}}).value();
  return graphs[size];
}

TEST(Resnet18, GraphWithoutWeightsNamesTheFirst) {
  const Result<Graph> graph = import_onnx(LATHE_SOURCE_DIR "/tests/data/resnet18.graph.onnx");
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().message, "initializer 'fc.weight' has no data");
}

TEST(Resnet18, ShapesOfAllTensors) {
  const Graph graph = simplify(resnet18(kFull));
  std::vector<std::string> shapes;
  for (const GraphNode& node : graph.nodes) {
    const std::string shape = to_string(graph.tensors[node.output].type.shape);
    if (shapes.empty() || shapes.back() != shape) shapes.push_back(shape);
  }
  // The downsampling convolutions stand beside the second 3 x 3 ones, in the shape of their stage.
  EXPECT_EQ(shapes,
            (std::vector<std::string>{"[1,64,112,112]", "[1,64,56,56]", "[1,128,28,28]", "[1,256,14,14]",
                                      "[1,512,7,7]", "[1,512,1,1]", "[1,512]", "[1,1000]"}));
  EXPECT_EQ(resnet18(kFull).nodes.size(), 65U);
  EXPECT_EQ(graph.nodes.size(), 49U);  // without the 16 identities of shared biases
}

TEST(Resnet18, GroupsAndTasks) {
  const Graph graph = simplify(resnet18(kFull));
  const Result<Partition> parts = partition(graph);
  ASSERT_TRUE(parts) << parts.error().to_string();
  std::string text;
  for (const NetworkTask& task : parts->tasks) text += fmt::format("{} x{}\n", task.name, task.weight);
  EXPECT_EQ(text,
            "/conv1/Conv x1\n"
            "/maxpool/MaxPool x1\n"
            "/layer1/layer1.0/conv1/Conv x2\n"
            "/layer1/layer1.0/conv2/Conv x2\n"
            "/layer2/layer2.0/conv1/Conv x1\n"
            "/layer2/layer2.0/downsample/downsample.0/Conv x1\n"
            "/layer2/layer2.0/conv2/Conv x2\n"
            "/layer2/layer2.1/conv1/Conv x1\n"
            "/layer3/layer3.0/conv1/Conv x1\n"
            "/layer3/layer3.0/downsample/downsample.0/Conv x1\n"
            "/layer3/layer3.0/conv2/Conv x2\n"
            "/layer3/layer3.1/conv1/Conv x1\n"
            "/layer4/layer4.0/conv1/Conv x1\n"
            "/layer4/layer4.0/downsample/downsample.0/Conv x1\n"
            "/layer4/layer4.0/conv2/Conv x2\n"
            "/layer4/layer4.1/conv1/Conv x1\n"
            "/avgpool/GlobalAveragePool x1\n"
            "/fc/Gemm x1\n");
  EXPECT_EQ(parts->uses.size(), 23U);
}

TEST(Resnet18, SharesActivations) {
  const Graph graph = simplify(resnet18(kFull));
  const ActivationPlan plan = plan_activations(graph, partition(graph).value());
  // The first convolution's output and the pooled one live together, and need 3.83 MiB: nothing later needs
  // more.
  EXPECT_EQ(plan.bytes, (64 * 112 * 112 + 64 * 56 * 56) * 4);
}

TEST(Resnet18, SimplifiedAndPartitionedMeanTheSame) {
  const Graph& graph = resnet18(kSmall);
  const Graph simple = simplify(graph);
  const std::vector<Values> inputs = random_inputs(graph, 1);
  const std::vector<Values> expected = evaluate_graph(graph, inputs).value();
  EXPECT_LE(relative_difference(evaluate_graph(simple, inputs).value(), expected), 1e-12);
  EXPECT_LE(relative_difference(run_partition(simple, partition(simple).value(), inputs), expected), 1e-5);
}

}  // namespace
}  // namespace lathe
