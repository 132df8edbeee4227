// Pad where more than its operator of the graph is needed.
#include "graph/onnx/nodes/padding.h"

#include <gtest/gtest.h>

#include "graph/network_runner.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

using Numbers = std::vector<double>;

OnnxModel padding_model(const char* mode, const Shape& shape, const std::vector<int64_t>& pads) {
  OnnxModel model;
  model.operator_set(19).input("x", shape).integers("pads", pads);
  return std::move(model.node("n", "Pad", {"x", "pads"}, "y").attribute("mode", mode).output("y"));
}

TEST(OnnxPad, WrapsAroundAsOftenAsItTakes) {
  EXPECT_EQ(run_network(padding_model("wrap", {3}, {2, 5}), {numbered({3})}).data,
            (Numbers{2, 3, 1, 2, 3, 1, 2, 3, 1, 2}));
  EXPECT_EQ(run_network(padding_model("wrap", {2, 2}, {0, 1, 1, 0}), {numbered({2, 2})}).data,
            (Numbers{2, 1, 2, 4, 3, 4, 2, 1, 2}));
}

TEST(OnnxPad, ReflectsBackAndForthBeyondItsExtent) {
  EXPECT_EQ(run_network(padding_model("reflect", {3}, {3, 5}), {numbered({3})}).data,
            (Numbers{2, 3, 2, 1, 2, 3, 2, 1, 2, 3, 2}));
  EXPECT_EQ(run_network(padding_model("reflect", {1}, {1, 2}), {numbered({1})}).data, (Numbers{1, 1, 1, 1}));
}

// What is cut off is not shown again.
TEST(OnnxPad, CutsOffBeforeItFills) {
  const Values x = numbered({5});
  EXPECT_EQ(run_network(padding_model("reflect", {5}, {-1, 3}), {x}).data, (Numbers{2, 3, 4, 5, 4, 3, 2}));
  EXPECT_EQ(run_network(padding_model("edge", {5}, {2, -2}), {x}).data, (Numbers{1, 1, 1, 2, 3}));
  EXPECT_EQ(run_network(padding_model("wrap", {5}, {-1, 2}), {x}).data, (Numbers{2, 3, 4, 5, 2, 3}));
}

TEST(OnnxPad, ItsValueMayBeAnInput) {
  OnnxModel model;
  model.operator_set(19).input("x", {2, 2}).input("v", {1}).integers("pads", {1, -1, 0, 2});
  model.node("n", "Pad", {"x", "pads", "v"}, "y").output("y");
  EXPECT_EQ(run_network(model, {numbered({2, 2}), {{1}, {9}}}).data, (Numbers{9, 9, 9, 2, 9, 9, 4, 9, 9}));
  OnnxModel two;
  two.operator_set(19).input("x", {2}).input("v", {2}).integers("pads", {1, 0});
  two.node("n", "Pad", {"x", "pads", "v"}, "y").output("y");
  EXPECT_EQ(import_error(two), "node 'n' (Pad): its value has shape [2], and must be one number");
}

// Before a list of places is made of any axis: that took gigabytes before a later axis was refused.
TEST(OnnxPad, PadsOfMillionsAreRefused) {
  EXPECT_EQ(import_error(padding_model("edge", {6, 6}, {4194304, 0, 0, int64_t{1} << 36})),
            "node 'n' (Pad): the pads 0 and 68719476736 of axis 1 of [6,6] are out of range");
  EXPECT_EQ(import_error(padding_model("wrap", {3}, {4194305, 0})),
            "node 'n' (Pad): the pads 4194305 and 0 of axis 0 of [3] are out of range");
}

}  // namespace
}  // namespace lathe
