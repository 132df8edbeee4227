#include "graph/onnx/nodes/windows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "graph/network_runner.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

using Numbers = std::vector<double>;

constexpr int kI64 = onnx::TensorProto_DataType_INT64;

OnnxModel indexed_pool(const Shape& shape) {
  return std::move(node_model(shape, "MaxPool").gives("i").output("i"));
}

// Of equal elements the first, and none beside the image; each plane's places go on behind the last one's.
TEST(OnnxMaxPool, NamesThePlacesOfTheLargest) {
  OnnxModel model =
      indexed_pool({1, 2, 2, 3}).attribute("kernel_shape", {2, 2}).attribute("pads", {1, 0, 0, 0});
  const Values x{{1, 2, 2, 3}, {1, 5, 5, 7, 2, 3, 0, 0, 0, 0, 0, 0}};
  EXPECT_EQ(run_network(model, {x}).data, (Numbers{5, 5, 7, 5, 0, 0, 0, 0}));
  const Values places = run_network(model, {x}, 1);
  EXPECT_EQ(places.dtype, DType::i64);
  EXPECT_EQ(places.shape, (Shape{1, 2, 2, 2}));
  EXPECT_EQ(places.data, (Numbers{1, 1, 3, 1, 6, 7, 6, 7}));
}

TEST(OnnxMaxPool, PlacesMayBeCountedColumnByColumn) {
  OnnxModel model =
      indexed_pool({1, 1, 2, 3}).attribute("kernel_shape", {2, 2}).attribute("storage_order", 1);
  EXPECT_EQ(run_network(model, {{{1, 1, 2, 3}, {1, 9, 2, 0, 4, 8}}}, 1).data, (Numbers{2, 2}));
  EXPECT_EQ(run_network(model, {{{1, 1, 2, 3}, {1, 0, 2, 3, 4, 8}}}, 1).data, (Numbers{3, 5}));
}

TEST(OnnxMaxPool, WhatFitsNoWindowIsRefused) {
  EXPECT_EQ(import_error(
                indexed_pool({1, 1, 2, 2}).attribute("kernel_shape", {2, 2}).attribute("pads", {2, 0, 0, 0})),
            "node 'n' (MaxPool): the pads of spatial axis 0 are not below its kernel, 2");
}

TEST(OnnxLpPool, TakesRootsOfAnyPower) {
  const auto near = [](const Numbers& numbers) {
    return ::testing::Pointwise(::testing::DoubleNear(1e-5), numbers);
  };
  const Values x{{1, 1, 3}, {1, -2, 3}};
  OnnxModel pool = node_model(x.shape, "LpPool").attribute("kernel_shape", {2}).attribute("p", 3);
  EXPECT_THAT(run_network(pool, {x}).data, near({std::cbrt(9), std::cbrt(35)}));
  EXPECT_THAT(run_network(node_model(x.shape, "GlobalLpPool").attribute("p", 4), {x}).data,
              near({std::pow(98, 0.25)}));
  EXPECT_EQ(import_error(node_model(x.shape, "GlobalLpPool").attribute("p", 0)),
            "node 'n' (GlobalLpPool): attribute 'p' is 0, and must be at least 1");
}

OnnxModel col2im_model(const Shape& columns, const Shape& image, const Shape& block) {
  OnnxModel model;
  model.operator_set(18).input("x", columns).integers("i", image).integers("b", block);
  return std::move(model.node("n", "Col2Im", {"x", "i", "b"}, "y").output("y"));
}

TEST(OnnxCol2Im, AddsUpWhatBlocksHaveForAPlace) {
  EXPECT_EQ(run_network(col2im_model({1, 2, 3}, {4}, {2}), {numbered({1, 2, 3})}).data,
            (Numbers{1, 6, 8, 6}));
  // Two channels; the blocks' first tap lies beside the image, and leaves out its second place.
  OnnxModel apart = col2im_model({1, 4, 2}, {3}, {2}).attribute("pads", {1, 0}).attribute("strides", {2});
  const Values y = run_network(apart, {numbered({1, 4, 2})});
  EXPECT_EQ(y.shape, (Shape{1, 2, 3}));
  EXPECT_EQ(y.data, (Numbers{3, 2, 4, 7, 6, 8}));
  OnnxModel dilated = col2im_model({1, 4, 1}, {3, 2}, {2, 2}).attribute("dilations", {2, 1});
  EXPECT_EQ(run_network(dilated, {numbered({1, 4, 1})}).data, (Numbers{1, 2, 0, 0, 3, 4}));
  EXPECT_EQ(
      import_error(col2im_model({1, 2, 4}, {4}, {2})),
      "node 'n' (Col2Im): its operand [1,2,4] is not [N, C x 2, 3], as blocks [2] of an image [4] have it");
}

OnnxModel unpool_model(const Shape& shape, const Shape& extents) {
  OnnxModel model;
  model.operator_set(11).input("x", shape).input("i", shape, kI64);
  std::vector<std::string> inputs{"x", "i"};
  if (!extents.empty()) {
    model.integers("e", extents);
    inputs.emplace_back("e");
  }
  return std::move(model.node("n", "MaxUnpool", inputs, "y").output("y"));
}

TEST(OnnxMaxUnpool, PutsElementsWhereTheyCameFrom) {
  OnnxModel model = unpool_model({1, 2, 2}, {}).attribute("kernel_shape", {2}).attribute("strides", {2});
  const Values x = numbered({1, 2, 2}), places{{1, 2, 2}, {1, 2, 4, 7}, DType::i64};
  EXPECT_EQ(run_network(model, {x, places}).data, (Numbers{0, 1, 2, 0, 3, 0, 0, 4}));
  OnnxModel larger =
      unpool_model({1, 2, 2}, {1, 2, 5}).attribute("kernel_shape", {2}).attribute("strides", {2});
  EXPECT_EQ(run_network(larger, {x, places}).data, (Numbers{0, 1, 2, 0, 0, 3, 0, 0, 4, 0}));
  OnnxModel small =
      unpool_model({1, 2, 2}, {1, 2, 3}).attribute("kernel_shape", {2}).attribute("strides", {2});
  EXPECT_EQ(import_error(small),
            "node 'n' (MaxUnpool): what it gives [1,2,3] does not hold what it unpools, [1,2,4]");
}

}  // namespace
}  // namespace lathe
