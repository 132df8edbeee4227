// Free sizes with more values than are compiled one by one, where places are counted from the end, and where
// the size itself is a number of the network.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "artifact/free_network_fixture.h"
#include "graph/reference.h"

namespace lathe {
namespace {

using ::testing::HasSubstr;

using FreePlacesTest = FreeNetworkTest;

// Tokens [1, s, 8] of which places are taken.
OnnxModel gathering(const std::vector<int64_t>& places) {
  OnnxModel onnx;
  onnx.input("x", {1, 160, 8}).integers("place", places).output("y");
  onnx.node("g", "Gather", {"x", "place"}, "y").attribute("axis", 1);
  return with_open(onnx, 1, "tokens");
}

SizeChoices tokens_from(int64_t least) { return {{{"x", {{1, "", least, 160}}}}, {}}; }

TEST_F(FreePlacesTest, TheFirstPlaceAndTheLastAreTakenOfAnySize) {
  for (const int64_t place : {0, -1}) {
    const OnnxModel onnx = gathering({place});
    const auto sized = read(onnx, {{"x", {1, 160, 8}}}, tokens_from(1));
    ASSERT_TRUE(sized.has_value()) << sized.error().to_string();
    EXPECT_EQ(sized->free.dimensions[0].by, SizedBy::count);
    check_every_size(onnx, *sized, {{"x", {1, 160, 8}}});
  }
}

TEST_F(FreePlacesTest, SeveralPlacesFromTheEndNeedAsMany) {
  const OnnxModel onnx = gathering({-5, -3, -1});
  const auto sized = read(onnx, {{"x", {1, 160, 8}}}, tokens_from(5));
  ASSERT_TRUE(sized.has_value()) << sized.error().to_string();
  check_every_size(onnx, *sized, {{"x", {1, 160, 8}}});
  const auto fewer = read(onnx, {{"x", {1, 160, 8}}}, tokens_from(4));
  ASSERT_FALSE(fewer.has_value());
  EXPECT_THAT(fewer.error().message,
              HasSubstr("node 'g' (Gather): at the largest size it reads one of the first or last 5 places"));
}

// Beside it another axis is cut.
TEST_F(FreePlacesTest, ASliceMayEndWithTheSize) {
  OnnxModel onnx;
  onnx.input("x", {1, 160, 8}).output("y");
  onnx.integers("from", {-3, 2}).integers("to", {1000, 7}).integers("axes", {1, 2});
  onnx.node("s", "Slice", {"x", "from", "to", "axes"}, "y");
  onnx = with_open(onnx, 1, "tokens");
  const auto sized = read(onnx, {{"x", {1, 160, 8}}}, tokens_from(3));
  ASSERT_TRUE(sized.has_value()) << sized.error().to_string();
  EXPECT_EQ(sized->free.dimensions[0].by, SizedBy::count);
  check_every_size(onnx, *sized, {{"x", {1, 160, 8}}});
}

// All but the first: as many places as the size has, less one.
TEST_F(FreePlacesTest, ASliceThatGrowsWithTheSizeIsRefused) {
  OnnxModel onnx;
  onnx.input("x", {1, 160, 8}).output("y").integers("from", {1}).integers("to", {1000}).integers("axes", {1});
  onnx.node("s", "Slice", {"x", "from", "to", "axes"}, "y");
  const auto refused = read(with_open(onnx, 1, "tokens"), {{"x", {1, 160, 8}}}, tokens_from(2));
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, HasSubstr("node 's' (Slice): it reads other places of axis 1"));
}

// T, the size of the second axis, and `number`, the same as a float.
void add_size(OnnxModel& onnx) {
  onnx.node("shape", "Shape", {"x"}, "shape").integers("second", {1});
  onnx.node("t", "Gather", {"shape", "second"}, "T").attribute("axis", 0);
  onnx.node("real", "Cast", {"T"}, "number").attribute("to", 1);
}

// A sum over as many places as `tokens` has, divided by their number; which is an output too.
OnnxModel average_by_hand(const char* reader) {
  OnnxModel onnx;
  onnx.input("x", {1, 160, 8}).output("y").output("number");
  onnx.node("s", "ReduceSum", {"x", "axes"}, "sum").attribute("keepdims", 0).integers("axes", {1});
  add_size(onnx);
  onnx.node("mean", reader, {"sum", "number"}, "y");
  return with_open(onnx, 1, "tokens");
}

TEST_F(FreePlacesTest, TheSizeIsANumberOfTheNetwork) {
  const OnnxModel onnx = average_by_hand("Div");
  const auto sized = read(onnx, {{"x", {1, 160, 8}}}, tokens_from(1));
  ASSERT_TRUE(sized.has_value()) << sized.error().to_string();
  EXPECT_EQ(sized->free.dimensions[0].by, SizedBy::count);
  check_every_size(onnx, *sized, {{"x", {1, 160, 8}}});
}

// The number of places in all goes by two sizes: the one that has few of them has kernels for each.
TEST_F(FreePlacesTest, ANumberOfTwoSizesGoesByTheOneWithMore) {
  OnnxModel onnx;
  onnx.input("x", {3, 160, 8}).output("y").integers("axes", {1});
  onnx.node("s", "ReduceSum", {"x", "axes"}, "sum").attribute("keepdims", 0);
  onnx.node("shape", "Shape", {"x"}, "shape").integers("whole", {0, 1});
  onnx.node("two", "Gather", {"shape", "whole"}, "counts").attribute("axis", 0);
  onnx.node("all", "ReduceProd", {"counts"}, "count").attribute("keepdims", 0);
  onnx.node("real", "Cast", {"count"}, "number")
      .attribute("to", 1)
      .node("mean", "Div", {"sum", "number"}, "y");
  onnx = with_open(with_open(onnx, 1, "tokens"), 0, "batch");
  const auto sized = read(onnx, {{"x", {3, 160, 8}}}, {{{"x", {{0, "", 1, 3}, {1, "", 1, 160}}}}, {}});
  ASSERT_TRUE(sized.has_value()) << sized.error().to_string();
  ASSERT_EQ(sized->free.dimensions.size(), 2U);
  for (const FreeDimension& dimension : sized->free.dimensions)
    EXPECT_EQ(dimension.by, dimension.most == 3 ? SizedBy::exact : SizedBy::count) << dimension.name;
}

// x [B,T,4] over a number of its sizes, which `op` makes of them.
OnnxModel over_number(const char* op, int64_t batch) {
  OnnxModel onnx;
  onnx.input("x", {batch, 160, 4}).output("y").node("shape", "Shape", {"x"}, "shape");
  onnx.integers("first", {0}).integers("second", {1});
  onnx.node("b", "Gather", {"shape", "first"}, "B").attribute("axis", 0);
  onnx.node("t", "Gather", {"shape", "second"}, "T").attribute("axis", 0);
  onnx.node("number", op, {"T", "B"}, "count").node("real", "Cast", {"count"}, "number").attribute("to", 1);
  onnx.node("over", "Div", {"x", "number"}, "y");
  return with_open(with_open(onnx, 1, "tokens"), 0, "batch");
}

// The largest of two sizes is one size's alone where the other is small: no corner tells it.
TEST_F(FreePlacesTest, SizesThatMeetAreComparedTogether) {
  const auto refused =
      read(over_number("Max", 5), {{"x", {5, 160, 4}}}, {{{"x", {{0, "", 1, 5}, {1, "", 1, 160}}}}, {}});
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message,
              HasSubstr("its sizes cannot be free together: what node 'over' (Div)"));
}

// A number that few sizes have is found at each of them.
TEST_F(FreePlacesTest, ANumberOfOneSizeAmongManyIsSeen) {
  OnnxModel onnx;
  onnx.input("x", {2, 160, 4}).output("y").integers("which", {77});
  add_size(onnx);
  onnx.node("is", "Equal", {"T", "which"}, "is").node("n", "Neg", {"x"}, "other");
  onnx.node("w", "Where", {"is", "other", "x"}, "y");
  onnx = with_open(onnx, 1, "tokens");
  const auto refused = read(onnx, {{"x", {2, 160, 4}}}, {{{"x", {{1, "", 1, 160}}}}, {}});
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, HasSubstr("at size 77"));
  const auto few = read(onnx, {{"x", {2, 80, 4}}}, {{{"x", {{1, "", 70, 80}}}}, {}});
  ASSERT_TRUE(few.has_value()) << few.error().to_string();
  EXPECT_EQ(few->free.dimensions[0].by, SizedBy::exact);
  check_every_size(onnx, *few, {{"x", {2, 80, 4}}});
}

// The same of a file that fixes the size, where it can be read at others.
TEST_F(FreePlacesTest, ANumberOfAFixedSizeIsSeen) {
  OnnxModel onnx;
  onnx.input("x", {2, 7, 4}).output("y").integers("most", {10});
  add_size(onnx);
  onnx.node("is", "Greater", {"T", "most"}, "is").node("n", "Neg", {"x"}, "other");
  onnx.node("w", "Where", {"is", "other", "x"}, "y");
  const auto refused = read(onnx, {}, {{{"x", {{1, "", 1, 160}}}}, {}});
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message,
              HasSubstr("it reads 'is', a number that goes by the number of places"));
}

// What is compiled for each size of the batch, by what stands beside it, has the numbers of the tokens.
TEST_F(FreePlacesTest, NumbersStandBesideAnExactSize) {
  OnnxModel onnx;
  onnx.input("x", {3, 160, 4}).output("y").integers("axes", {1});
  add_size(onnx);
  onnx.node("s", "ReduceSum", {"x", "axes"}, "sum").attribute("keepdims", 0);
  onnx.node("over", "Div", {"sum", "number"}, "mean").node("c", "Concat", {"mean", "sum"}, "y");
  onnx.attribute("axis", 0);
  onnx = with_open(with_open(onnx, 1, "tokens"), 0, "batch");
  const auto sized = read(onnx, {{"x", {3, 160, 4}}}, {{{"x", {{0, "", 1, 3}, {1, "", 1, 160}}}}, {}});
  ASSERT_TRUE(sized.has_value()) << sized.error().to_string();
  for (const SizedGraph& each : sized->graphs) {
    Values x{{each.sizes[0], each.sizes[1], 4}, {}, DType::f32};
    x.data.assign(static_cast<size_t>(each.sizes[0] * each.sizes[1] * 4), 1);
    const auto outputs =
        evaluate_graph(each.graph, std::vector<Values>{x, {{1}, {1}, DType::i64}});  // one token counts
    ASSERT_TRUE(outputs.has_value()) << outputs.error().to_string();
    EXPECT_EQ((*outputs)[0].data.front(), 1) << "the sum of one, over one";
  }
}

}  // namespace
}  // namespace lathe
