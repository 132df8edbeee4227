// Gather and GatherElements: of places known when the model is read, and of those that an operand names.
#include "graph/operators/gather.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "graph/network_runner.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

using Data = std::vector<double>;

constexpr int kI64 = onnx::TensorProto_DataType_INT64;
constexpr int kI32 = onnx::TensorProto_DataType_INT32;

// y = Gather(data, places), without either.
OnnxModel gather_of(const char* data, const char* places) {
  OnnxModel model;
  model.node("n", "Gather", {data, places}, "y").output("y");
  return model;
}

OnnxModel gather_model(const Shape& list_shape, const std::vector<int64_t>& list, int64_t axis) {
  return gather_of("x", "list").integers("list", list_shape, list).attribute("axis", axis).input("x", {2, 5});
}

TEST(Gather, TakesPlacesOfAnAxis) {
  const Values x = numbered({2, 5});
  EXPECT_EQ(run_network(gather_model({}, {-1}, 0), {x}).data, (std::vector<double>{6, 7, 8, 9, 10}));
  EXPECT_EQ(run_network(gather_model({}, {-1}, 0), {x}).shape, (Shape{5}));
  EXPECT_EQ(run_network(gather_model({3}, {4, 2, 0}, 1), {x}).data, (std::vector<double>{5, 3, 1, 10, 8, 6}));
  const Values y = run_network(gather_model({2, 2}, {0, 1, 2, 3}, -1), {x});
  EXPECT_EQ(y.shape, (Shape{2, 2, 2}));
  EXPECT_EQ(y.data, (std::vector<double>{1, 2, 3, 4, 6, 7, 8, 9}));
}

TEST(Gather, TakesAnyPlacesOfConstants) {
  std::vector<float> rows;
  for (int i = 0; i < 30; ++i) rows.push_back(static_cast<float>(i));
  OnnxModel model;
  model.input("x", {3, 6}).initializer("rows", {5, 6}, rows).integers("list", {3, 0, 4});
  model.node("n", "Gather", {"rows", "list"}, "t").node("m", "Sub", {"t", "x"}, "y").output("y");
  std::vector<double> expected;
  for (const int row : {3, 0, 4})
    for (int j = 0; j < 6; ++j) expected.push_back(6 * row + j - 1 - static_cast<int>(expected.size()));
  EXPECT_EQ(run_network(model, {numbered({3, 6})}).data, expected);
}

// What a model gives is not folded away.
TEST(Gather, GivesPlacesOfConstants) {
  OnnxModel model;
  model.input("x", {8}).initializer("rows", {8}, {0, 1, 2, 3, 4, 5, 6, 7}).integers("list", {0, 5, 1, 7});
  model.node("r", "Relu", {"x"}, "y").node("n", "Gather", {"rows", "list"}, "g").output("g").output("y");
  EXPECT_EQ(run_network(model, {numbered({8})}).data, (std::vector<double>{0, 5, 1, 7}));
}

// Rows of a table by the places that an input names.
TEST(Gather, TakesPlacesThatAnInputNames) {
  for (const int dtype : {kI64, kI32}) {
    OnnxModel model = gather_of("rows", "places");
    model.input("places", {2, 2}, dtype).initializer("rows", {3, 2}, {0, 1, 2, 3, 4, 5});
    const Values y = run_network(model, {{{2, 2}, {2, 0, -1, -3}}});
    EXPECT_EQ(y.shape, (Shape{2, 2, 2}));
    EXPECT_EQ(y.data, (Data{4, 5, 0, 1, 4, 5, 0, 1}));
  }
}

TEST(Gather, TakesComputedPlacesOfComputedData) {
  OnnxModel model;
  model.input("x", {2, 3}).input("places", {2}, kI64).integers("one", {1});
  model.node("m", "Neg", {"x"}, "t").node("a", "Add", {"places", "one"}, "p");
  model.node("n", "Gather", {"t", "p"}, "y").attribute("axis", 1).output("y");
  EXPECT_EQ(run_network(model, {numbered({2, 3}), {{2}, {1, -1}}}).data, (Data{-3, -1, -6, -4}));
}

// What lies beyond the axis never leads outside of it.
TEST(Gather, PlacesBeyondTheAxisCountOnFromItsOtherEnd) {
  OnnxModel model = gather_of("x", "places");
  model.input("x", {3}).input("places", {5}, kI64);
  EXPECT_EQ(run_network(model, {numbered({3}), {{5}, {3, 4, -4, 3000000001, -3000000000}}}).data,
            (Data{1, 2, 3, 2, 1}));
}

TEST(Gather, TakesUnevenPlacesOfComputedData) {
  EXPECT_EQ(run_network(gather_model({3}, {0, 1, 4}, 1), {numbered({2, 5})}).data, (Data{1, 2, 5, 6, 7, 10}));
}

TEST(Gather, NamesWhatItCannotTake) {
  EXPECT_EQ(import_error(gather_model({1}, {5}, 1)),
            "node 'n' (Gather): there is no place 5 in axis 1 of [2,5]");
  EXPECT_EQ(import_error(gather_model({1}, {-6}, 1)),
            "node 'n' (Gather): there is no place -6 in axis 1 of [2,5]");
  OnnxModel reals = gather_of("x", "places");
  reals.input("x", {3}).input("places", {2});
  EXPECT_EQ(import_error(reals),
            "node 'n' (Gather): input 1 is of type f32, and Lathe supports i64 and i32 here");
}

OnnxModel elements_model(const Shape& data, const Shape& places, int64_t axis) {
  OnnxModel model;
  model.input("x", data).input("places", places, kI64);
  model.node("n", "GatherElements", {"x", "places"}, "y").attribute("axis", axis).output("y");
  return model;
}

TEST(GatherElements, TakesAPlaceForEachElement) {
  EXPECT_EQ(
      run_network(elements_model({3, 3}, {2, 3}, 0), {numbered({3, 3}), {{2, 3}, {1, 2, 0, 2, 0, -3}}}).data,
      (Data{4, 8, 3, 7, 2, 3}));
  EXPECT_EQ(
      run_network(elements_model({2, 2}, {2, 3}, 1), {numbered({2, 2}), {{2, 3}, {0, 0, 1, -1, 0, 5}}}).data,
      (Data{1, 1, 2, 4, 3, 4}));
}

TEST(GatherElements, ConstantPlacesLieInTheAxis) {
  const auto model = [](const std::vector<int64_t>& list, const char* places) {
    OnnxModel result;
    result.input("x", {3}).integers("list", list).node("c", "Cast", {"list"}, "cast").attribute("to", kI32);
    result.node("n", "GatherElements", {"x", places}, "y").output("y");
    return result;
  };
  EXPECT_EQ(run_network(model({0, -1, -3, 2}, "list"), {numbered({3})}).data, (Data{1, 3, 1, 3}));
  // Those that follow from constants are constants.
  for (const char* places : {"list", "cast"}) {
    EXPECT_EQ(import_error(model({0, 3, -4}, places)),
              "node 'n' (GatherElements): there is no place 3 in axis 0 of [3]");
    EXPECT_EQ(import_error(model({0, 2, -4}, places)),
              "node 'n' (GatherElements): there is no place -4 in axis 0 of [3]");
  }
  EXPECT_EQ(import_error(model({0, INT64_MIN}, "list")),
            "node 'n' (GatherElements): there is no place -9223372036854775808 in axis 0 of [3]");
}

TEST(Gather, LooksUpTheWordsOfATransformer) {
  const Values y = run_network(small_bert_model(), {{{1, 6}, {3, 10, 1, -2, 0, 0}}});
  EXPECT_EQ(y.shape, (Shape{1, 6, 8}));
  EXPECT_NE(y.data, run_network(small_bert_model(), {{{1, 6}, {3, 10, 1, -2, 0, 5}}}).data);
}

// An axis of one place of the indices takes the first of the data.
TEST(GatherElements, TakesNoMoreThanTheIndicesHold) {
  EXPECT_EQ(run_network(elements_model({2, 3}, {1, 2}, 1), {numbered({2, 3}), {{1, 2}, {2, 1}}}).data,
            (Data{3, 2}));
  EXPECT_EQ(import_error(elements_model({2, 3}, {3, 3}, 1)),
            "node 'n' (GatherElements): its indices [3,3] leave [2,3] beside axis 1");
}

}  // namespace
}  // namespace lathe
