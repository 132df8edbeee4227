// Poolings with windows: the reference against values by hand, and the network against the reference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "graph/network_runner.h"
#include "graph/onnx/import.h"
#include "graph/onnx/models.h"
#include "network/partition.h"

namespace lathe {
namespace {

// A pooling of x [1,1,n] by this kernel and stride; attributes follow.
OnnxModel row_model(const char* type, int64_t extent, int64_t kernel, int64_t stride) {
  OnnxModel model;
  model.input("x", {1, 1, extent}).node("n", type, {"x"}, "y").output("y");
  return model.attribute("kernel_shape", {kernel}).attribute("strides", {stride});
}

std::vector<double> pooled(const OnnxModel& model, int64_t extent) {
  return run_network(model, {numbered({1, 1, extent})}).data;
}

TEST(AveragePool, DividesByTheElementsThatLieInside) {
  EXPECT_EQ(pooled(row_model("AveragePool", 5, 3, 1).attribute("pads", {1, 1}), 5),
            (std::vector<double>{1.5, 2, 3, 4, 4.5}));
}

TEST(AveragePool, CountsPadsWhereItIsTold) {
  OnnxModel model = row_model("AveragePool", 5, 3, 1).attribute("pads", {1, 2});
  model.attribute("count_include_pad", 1);
  EXPECT_EQ(pooled(model, 5), (std::vector<double>{1, 2, 3, 4, 3, 5.0 / 3}));
}

TEST(AveragePool, CountsNoPlacesBehindThePadsWhereItRoundsUp) {
  const OnnxModel inside = row_model("AveragePool", 6, 3, 2).attribute("ceil_mode", 1);
  EXPECT_EQ(pooled(inside, 6), (std::vector<double>{2, 4, 5.5}));
  OnnxModel padded = row_model("AveragePool", 5, 3, 3).attribute("ceil_mode", 1).attribute("pads", {0, 1});
  EXPECT_EQ(pooled(padded, 5), (std::vector<double>{2, 4.5}));
  EXPECT_EQ(pooled(padded.attribute("count_include_pad", 1), 5), (std::vector<double>{2, 3}));
}

TEST(AveragePool, HasAWindowForEachAxis) {
  OnnxModel model;
  model.input("x", {1, 2, 2, 3}).node("n", "AveragePool", {"x"}, "y").output("y");
  model.attribute("kernel_shape", {2, 2}).attribute("pads", {1, 0, 0, 0});
  const Values y = run_network(model, {numbered({1, 2, 2, 3})});
  EXPECT_EQ(y.shape, (Shape{1, 2, 2, 2}));
  EXPECT_EQ(y.data, (std::vector<double>{1.5, 2.5, 3, 4, 7.5, 8.5, 9, 10}));
}

TEST(AveragePool, SkipsElementsByItsDilation) {
  OnnxModel model = row_model("AveragePool", 5, 2, 1).operator_set(19);
  EXPECT_EQ(pooled(model.attribute("dilations", {3}), 5), (std::vector<double>{2.5, 3.5}));
}

TEST(MaxPool, RoundsItsNumberOfWindowsUp) {
  EXPECT_EQ(pooled(row_model("MaxPool", 6, 3, 2), 6), (std::vector<double>{3, 5}));
  EXPECT_EQ(pooled(row_model("MaxPool", 6, 3, 2).attribute("ceil_mode", 1), 6),
            (std::vector<double>{3, 5, 6}));
}

TEST(MaxPool, HasNoWindowThatStartsBehindTheOperand) {
  EXPECT_EQ(pooled(row_model("MaxPool", 4, 1, 2).attribute("ceil_mode", 1), 4), (std::vector<double>{1, 3}));
  OnnxModel padded = row_model("MaxPool", 3, 2, 2).attribute("ceil_mode", 1).attribute("pads", {1, 1});
  EXPECT_EQ(pooled(padded, 3), (std::vector<double>{1, 3}));
}

TEST(Pool, RoundsUpToOneWindowThatDoesNotFitWhole) {
  for (const char* type : {"MaxPool", "AveragePool"}) {
    const bool is_max = type == std::string("MaxPool");
    const OnnxModel model = row_model(type, 2, 3, 2).attribute("ceil_mode", 1);
    EXPECT_EQ(pooled(model, 2), (std::vector<double>{is_max ? 2.0 : 1.5})) << type;
    // A whole stride less, and rounding up gives no window either.
    EXPECT_EQ(import_error(row_model(type, 1, 3, 2).attribute("ceil_mode", 1)),
              std::string("node 'n' (") + type +
                  "): the kernel reaches over 3 elements of spatial axis 0, which has 1 with its padding");
    EXPECT_EQ(import_error(row_model(type, 1, 4, 2).attribute("ceil_mode", 1)),
              std::string("node 'n' (") + type +
                  "): the kernel reaches over 4 elements of spatial axis 0, which has 1 with its padding");
  }
  OnnxModel padded = row_model("AveragePool", 1, 3, 2).attribute("ceil_mode", 1).attribute("pads", {1, 0});
  EXPECT_EQ(pooled(padded, 1), (std::vector<double>{1}));
  EXPECT_EQ(pooled(padded.attribute("count_include_pad", 1), 1), (std::vector<double>{0.5}));
}

// As many networks end: a window of all channels' number over a small map.
TEST(Pool, LeavesOutTapsThatLieBesideTheOperand) {
  for (const char* type : {"MaxPool", "AveragePool", "LpPool"}) {
    OnnxModel model = row_model(type, 3, 640, 640).attribute("ceil_mode", 1);
    const Values whole = run_network(model.operator_set(22), {numbered({1, 1, 3})});
    const double expected = type[0] == 'M' ? 3 : type[0] == 'A' ? 2 : std::sqrt(14.0);
    EXPECT_NEAR(whole.data[0], expected, 1e-6) << type;
    const Result<Graph> graph = import_onnx_bytes(model.bytes(), "m");
    ASSERT_TRUE(graph) << graph.error().to_string();
    EXPECT_THAT(to_string(*graph), ::testing::HasSubstr("kernel [3]")) << type;
  }
  // In front of the operand and behind it, and one that is counted.
  EXPECT_EQ(pooled(row_model("AveragePool", 2, 5, 9).attribute("pads", {2, 2}), 2),
            (std::vector<double>{1.5}));
  OnnxModel counted = row_model("AveragePool", 2, 5, 9).attribute("pads", {2, 2});
  EXPECT_EQ(pooled(counted.attribute("count_include_pad", 1), 2), (std::vector<double>{0.6}));
  EXPECT_EQ(pooled(row_model("MaxPool", 4, 4, 2).attribute("pads", {3, 3}), 4),
            (std::vector<double>{1, 3, 4, 4}));
}

// Padding behind the last window is no reason to refuse a small map.
TEST(Pool, PadsThatNoWindowReachesAreNone) {
  for (const char* type : {"MaxPool", "AveragePool"}) {
    const bool is_max = type == std::string("MaxPool");
    EXPECT_EQ(pooled(row_model(type, 1, 2, 2).attribute("pads", {1, 1}), 1), (std::vector<double>{1}))
        << type;
    EXPECT_EQ(pooled(row_model(type, 2, 3, 3).attribute("pads", {1, 2}), 2),
              (std::vector<double>{is_max ? 2.0 : 1.5}))
        << type;
    EXPECT_EQ(pooled(row_model(type, 5, 4, 3).attribute("pads", {2, 3}), 5),
              is_max ? (std::vector<double>{2, 5, 5}) : (std::vector<double>{1.5, 3.5, 5}))
        << type;
  }
}

TEST(Pool, PadsByItselfToKeepTheExtent) {
  EXPECT_EQ(pooled(row_model("MaxPool", 4, 2, 1).attribute("auto_pad", "SAME_UPPER"), 4),
            (std::vector<double>{2, 3, 4, 4}));
  EXPECT_EQ(pooled(row_model("AveragePool", 4, 2, 1).attribute("auto_pad", "SAME_LOWER"), 4),
            (std::vector<double>{1, 1.5, 2.5, 3.5}));
}

TEST(Pool, NamesWhatItCannotTake) {
  for (const char* type : {"MaxPool", "AveragePool"}) {
    EXPECT_EQ(import_error(row_model(type, 4, 2, 1).attribute("pads", {2, 0})),
              std::string("node 'n' (") + type + "): the pads of spatial axis 0 are not below its kernel, 2");
    EXPECT_EQ(import_error(row_model(type, 2, 2, 1).attribute("pads", {1, 1}).attribute("dilations", {3})),
              std::string("node 'n' (") + type + "): window 0 of spatial axis 0 holds nothing but pads");
  }
  EXPECT_EQ(import_error(row_model("AveragePool", 4, 2, 1).gives("places").output("places")),
            "node 'n' (AveragePool): its output 1, 'places', is read, and Lathe supports the first alone");
}

TEST(Pool, AnOutputWithAnEmptyNameIsNotAskedFor) {
  EXPECT_EQ(pooled(row_model("MaxPool", 4, 2, 1).gives(""), 4), pooled(row_model("MaxPool", 4, 2, 1), 4));
}

TEST(LpPool, IsTheNormOfEachWindow) {
  OnnxModel squares =
      node_model({1, 1, 4}, "LpPool").attribute("kernel_shape", {2}).attribute("pads", {0, 1});
  const Values x{{1, 1, 4}, {3, -4, 0, 2}};
  EXPECT_EQ(run_network(squares, {x}).data, (std::vector<double>{5, 4, 2, 2}));
  EXPECT_EQ(run_network(squares.attribute("p", 1), {x}).data, (std::vector<double>{7, 4, 2, 2}));
}

TEST(AveragePool, WindowsOfAnySizeAreCountedAtOnce) {
  OnnxModel model = node_model({1, 1, 100000}, "AveragePool");
  model.attribute("kernel_shape", {100001}).attribute("pads", {50000, 50000});
  const Result<Graph> graph = import_onnx_bytes(model.bytes(), "m.onnx");
  ASSERT_TRUE(graph) << graph.error().to_string();
  EXPECT_TRUE(partition(*graph));
}

}  // namespace
}  // namespace lathe
