// Networks with free sizes as graphs: what the plans give at every size within the bounds is what the file
// gives there, whatever lies behind the places that count.
#include "artifact/free_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "artifact/free_network_fixture.h"

namespace lathe {
namespace {

using ::testing::HasSubstr;

// x [1,2,5,5] with a batch that stays free.
OnnxModel batch_model() {
  OnnxModel onnx;
  onnx.input("x", {1, 2, 5, 5}).initializer("w", {4, 2, 3, 3}).initializer("m", {100, 7}).output("y");
  onnx.node("c", "Conv", {"x", "w"}, "t").attribute("pads", {1, 1, 1, 1});
  onnx.node("r", "Relu", {"t"}, "u").integers("shape", {-1, 100});
  onnx.node("f", "Reshape", {"u", "shape"}, "v").node("g", "MatMul", {"v", "m"}, "y");
  return onnx;
}

// Attention of two heads over tokens [1, s, 8]; with a mean over the tokens beside it.
OnnxModel attention_model(int64_t tokens) {
  OnnxModel onnx;
  onnx.input("x", {1, tokens, 8}).output("y").output("mean");
  for (const char* name : {"q", "k", "v"}) {
    const std::string n = name;
    onnx.initializer("w" + n, {8, 8}).node("p" + n, "MatMul", {"x", "w" + n}, n);
  }
  onnx.integers("heads", {0, -1, 2, 4}).integers("joined", {0, -1, 8});
  for (const char* name : {"q", "k", "v"}) {
    const std::string n = name;
    onnx.node("s" + n, "Reshape", {n, "heads"}, n + "s");
    onnx.node("t" + n, "Transpose", {n + "s"}, n + "t");
    if (n == "k")
      onnx.attribute("perm", {0, 2, 3, 1});
    else
      onnx.attribute("perm", {0, 2, 1, 3});
  }
  onnx.node("scores", "MatMul", {"qt", "kt"}, "a").node("soft", "Softmax", {"a"}, "b");
  onnx.attribute("axis", -1);
  onnx.node("mix", "MatMul", {"b", "vt"}, "c").node("back", "Transpose", {"c"}, "d");
  onnx.attribute("perm", {0, 2, 1, 3});
  onnx.node("join", "Reshape", {"d", "joined"}, "y");
  onnx.node("average", "ReduceMean", {"y"}, "mean").attribute("axes", {1}).attribute("keepdims", 0);
  return onnx;
}

TEST_F(FreeNetworkTest, ABatchIsServedInParts) {
  const auto sized = read(batch_model(), {{"x", {6, 2, 5, 5}}}, {{{"x", {{0, "", 1, 6}}}}, {}});
  ASSERT_TRUE(sized.has_value()) << sized.error().to_string();
  ASSERT_EQ(sized->free.dimensions.size(), 1U);
  EXPECT_EQ(sized->free.dimensions[0].by, SizedBy::parts);
  std::vector<int64_t> sizes;
  for (const SizedGraph& graph : sized->graphs) sizes.push_back(graph.sizes[0]);
  EXPECT_EQ(sizes, (std::vector<int64_t>{6, 4, 2, 1}));
  check_every_size(batch_model(), *sized, {{"x", {6, 2, 5, 5}}});
}

TEST_F(FreeNetworkTest, TokensAreCounted) {
  const OnnxModel onnx = with_open(attention_model(40), 1, "tokens");
  const auto sized = read(onnx, {{"x", {1, 40, 8}}}, {{{"x", {{1, "", 1, 40}}}}, {}});
  ASSERT_TRUE(sized.has_value()) << sized.error().to_string();
  EXPECT_EQ(sized->free.dimensions[0].by, SizedBy::count);
  EXPECT_EQ(sized->free.dimensions[0].name, "tokens");
  check_every_size(onnx, *sized, {{"x", {1, 40, 8}}});
}

// What places beyond the size would change in a way that no value stands for is compiled size by size.
TEST_F(FreeNetworkTest, WhatCannotBeCountedIsCompiledForEachSize) {
  OnnxModel onnx;
  onnx.input("x", {1, 2, 9}).initializer("w", {3, 2, 3}).output("y");
  onnx.node("c", "Conv", {"x", "w"}, "y").attribute("strides", {2});
  const auto sized = read(onnx, {{"x", {1, 2, 9}}}, {{{"x", {{2, "", 5, 9}}}}, {}});
  ASSERT_TRUE(sized.has_value()) << sized.error().to_string();
  EXPECT_EQ(sized->free.dimensions[0].by, SizedBy::exact);
  EXPECT_EQ(sized->graphs.size(), 5U);
  check_every_size(onnx, *sized, {{"x", {1, 2, 9}}});
  const auto refused = read(onnx, {{"x", {1, 2, 199}}}, {{{"x", {{2, "", 5, 199}}}}, {}});
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, HasSubstr("node 'c' (Conv)"));
  EXPECT_THAT(refused.error().message, HasSubstr("of at most 128 sizes"));
}

// Reshapes that spell the old batch spell the new one.
TEST_F(FreeNetworkTest, TheBatchOfAModelThatFixesItChanges) {
  OnnxModel onnx;
  onnx.input("x", {1, 3, 4}).initializer("token", {1, 1, 4}).initializer("w", {4, 5}).output("y");
  onnx.node("join", "Concat", {"token", "x"}, "t").attribute("axis", 1);
  onnx.node("m", "MatMul", {"t", "w"}, "u").integers("shape", {1, 4, 5}).integers("flat", {4, 5});
  onnx.node("f", "Reshape", {"u", "flat"}, "v").node("s", "Reshape", {"v", "shape"}, "z");
  onnx.node("soft", "Softmax", {"z"}, "y").attribute("axis", -1);
  const auto one = read(onnx, {}, {{}, 1});
  const auto three = read(onnx, {}, {{}, 3});
  ASSERT_TRUE(three.has_value()) << three.error().to_string();
  ASSERT_TRUE(one.has_value()) << one.error().to_string();
  const Graph& graph = three->graphs[0].graph;
  EXPECT_TRUE(three->free.empty());
  EXPECT_EQ(graph.tensor(graph.outputs[0]).type.shape, (Shape{3, 4, 5}));
  const std::vector<Values> inputs = random_inputs(graph, 3);
  const Values all = evaluate_graph(graph, inputs).value()[0];
  for (int64_t item = 0; item < 3; ++item) {
    Values own{{1, 3, 4}, {}};
    own.data.assign(inputs[0].data.begin() + item * 12, inputs[0].data.begin() + (item + 1) * 12);
    const Values alone = evaluate_graph(one->graphs[0].graph, std::vector{own}).value()[0];
    for (size_t i = 0; i < 20; ++i) EXPECT_EQ(alone.data[i], all.data[static_cast<size_t>(item) * 20 + i]);
  }
}

TEST_F(FreeNetworkTest, ABatchThatIsCombinedDoesNotChange) {
  OnnxModel onnx;
  onnx.input("x", {1, 3}).output("y").node("s", "Softmax", {"x"}, "y").attribute("axis", 0);
  const auto changed = read(onnx, {}, {{}, 4});
  ASSERT_FALSE(changed.has_value());
  EXPECT_THAT(changed.error().message, HasSubstr("node 's' (Softmax): it combines"));
}

// One name in the file is one size, which is said once.
TEST_F(FreeNetworkTest, AxesOfOneNameAreOneDimension) {
  OnnxModel onnx;
  onnx.input("a", {2, 3}).input("b", {2, 3}).output("y").node("n", "Add", {"a", "b"}, "y");
  for (auto& input : *onnx.proto.mutable_graph()->mutable_input())
    input.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_param("n");
  const auto sized = read(onnx, {{"a", {5, 3}}}, {{{"a", {{0, "", 2, 5}}}}, {}});
  ASSERT_TRUE(sized.has_value()) << sized.error().to_string();
  EXPECT_EQ(sized->free.dimensions.size(), 1U);
  check_every_size(onnx, *sized, {{"a", {5, 3}}, {"b", {5, 3}}});
  const auto other = read(onnx, {{"a", {5, 3}}, {"b", {4, 3}}}, {{{"a", {{0, "", 2, 5}}}}, {}});
  ASSERT_FALSE(other.has_value());
  EXPECT_EQ(other.error().message, "'n' is 2..5 in one input and 4 in input 'b'");
}

// A mask that is read by the numbers of its batches and keys, as attention's is exported, and a table of
// positions; down to one token.
TEST_F(FreeNetworkTest, PlacesThatAreTakenInTurnStayInPlace) {
  for (const char* type : {"GatherND", "Gather"}) {
    OnnxModel onnx;
    onnx.input("x", {2, 20}).initializer("table", {64, 3}).output("y");
    onnx.integers("c0", {}, {0}).integers("c1", {}, {1}).integers("a0", {1}, {0}).integers("a1", {1}, {1});
    onnx.integers("last", {1}, {-1}).integers("numbers", {1, 64}, [] {
      std::vector<int64_t> numbers(64);
      std::iota(numbers.begin(), numbers.end(), 0);
      return numbers;
    }());
    onnx.node("s", "Shape", {"x"}, "s").node("sb", "Gather", {"s", "c0"}, "b");
    onnx.node("sn", "Gather", {"s", "c1"}, "n").node("rb", "Range", {"c0", "b", "c1"}, "rb");
    onnx.node("rn", "Range", {"c0", "n", "c1"}, "rn").node("ub", "Unsqueeze", {"rb", "a1"}, "ub");
    onnx.node("un", "Unsqueeze", {"rn", "a0"}, "un");
    if (type == std::string("GatherND")) {
      onnx.node("max", "Max", {"ub", "un"}, "most").node("sm", "Shape", {"most"}, "both");
      onnx.node("eb", "Expand", {"ub", "both"}, "eb").node("en", "Expand", {"un", "both"}, "en");
      onnx.node("xb", "Unsqueeze", {"eb", "last"}, "xb").node("xn", "Unsqueeze", {"en", "last"}, "xn");
      onnx.node("j", "Concat", {"xb", "xn"}, "places").attribute("axis", -1);
      onnx.node("g", "GatherND", {"x", "places"}, "m");
    } else {
      onnx.node("bn", "Mul", {"ub", "n"}, "bn").node("p", "Add", {"bn", "un"}, "places");
      onnx.node("f", "Reshape", {"x", "last"}, "flat").node("g", "Gather", {"flat", "places"}, "m");
    }
    onnx.node("n1", "Unsqueeze", {"n", "a0"}, "n1").node("sl", "Slice", {"numbers", "a0", "n1", "a1"}, "own");
    onnx.node("e", "Gather", {"table", "own"}, "e").node("um", "Unsqueeze", {"m", "last"}, "um");
    onnx.node("y", "Add", {"um", "e"}, "y");
    const OnnxModel open = with_open(onnx.operator_set(17), 1, "tokens");
    const auto sized = read(open, {{"x", {2, 20}}}, {{{"x", {{1, "", 1, 20}}}}, {}});
    ASSERT_TRUE(sized.has_value()) << sized.error().to_string();
    EXPECT_EQ(sized->free.dimensions[0].by, SizedBy::count) << type;
    check_every_size(open, *sized, {{"x", {2, 20}}});
  }
}

// The first places of a table, with no numbers that say which.
TEST_F(FreeNetworkTest, AsManyPlacesOfATableAreTaken) {
  OnnxModel onnx;
  onnx.input("x", {2, 20, 3}).initializer("table", {64, 3}).output("y");
  onnx.integers("one", {1}, {1}).integers("two", {1}, {2}).integers("zero", {1}, {0});
  onnx.node("s", "Shape", {"x"}, "s").node("n", "Slice", {"s", "one", "two"}, "n");
  onnx.node("t", "Slice", {"table", "zero", "n"}, "own").node("y", "Add", {"x", "own"}, "y");
  const OnnxModel open = with_open(onnx.operator_set(17), 1, "tokens");
  const auto sized = read(open, {{"x", {2, 20, 3}}}, {{{"x", {{1, "", 1, 20}}}}, {}});
  ASSERT_TRUE(sized.has_value()) << sized.error().to_string();
  EXPECT_EQ(sized->free.dimensions[0].by, SizedBy::count);
  check_every_size(open, *sized, {{"x", {2, 20, 3}}});
}

// A part of a constant that is written over, as long as the tokens are many.
TEST_F(FreeNetworkTest, WhatIsWrittenWholeStaysInPlace) {
  OnnxModel onnx;
  onnx.input("x", {1, 20}).output("y").integers("one", {1}, {1}).integers("axis", {1}, {0});
  onnx.node("s", "Shape", {"x"}, "s").node("z", "ConstantOfShape", {"s"}, "zeros");
  onnx.integers("c1", {}, {1}).integers("c0", {}, {0}).integers("last", {1}, {-1});
  onnx.node("sn", "Gather", {"s", "c1"}, "n").node("rn", "Range", {"c0", "n", "c1"}, "rn");
  onnx.node("ur", "Unsqueeze", {"rn", "last"}, "places").node("t", "Transpose", {"x"}, "turned");
  onnx.node("zt", "Transpose", {"zeros"}, "under").node("w", "ScatterND", {"under", "places", "turned"}, "u");
  onnx.node("y", "Mul", {"u", "turned"}, "y");
  const OnnxModel open = with_open(onnx.operator_set(17), 1, "tokens");
  const auto sized = read(open, {{"x", {1, 20}}}, {{{"x", {{1, "", 1, 20}}}}, {}});
  ASSERT_TRUE(sized.has_value()) << sized.error().to_string();
  check_every_size(open, *sized, {{"x", {1, 20}}});
}

// An exporter calls the length of each input something else; that they are one shows where they meet.
TEST_F(FreeNetworkTest, LengthsOfOtherNamesThatMeetAreOneDimension) {
  OnnxModel onnx;
  onnx.input("a", {2, 20, 3}).input("b", {2, 20, 3}).output("y").node("n", "Add", {"a", "b"}, "s");
  onnx.node("m", "ReduceMean", {"s"}, "y").attribute("axes", {1});
  onnx = with_open(with_open(onnx, 1, "s1", 0), 1, "s2", 1);
  const std::map<std::string, Shape> largest{{"a", {2, 20, 3}}, {"b", {2, 20, 3}}};
  const auto sized = read(onnx, largest, {{{"a", {{1, "", 1, 20}}}, {"b", {{1, "", 1, 20}}}}, {}});
  ASSERT_TRUE(sized.has_value()) << sized.error().to_string();
  ASSERT_EQ(sized->free.dimensions.size(), 1U);
  check_every_size(onnx, *sized, largest);
  // Of other bounds they are two, of which either alone meets the other's fixed size.
  const auto refused = read(onnx, largest, {{{"a", {{1, "", 1, 20}}}, {"b", {{1, "", 2, 20}}}}, {}});
  ASSERT_FALSE(refused.has_value());
}

// Nobody who asks for two lengths gets one, though that alone could be served.
TEST_F(FreeNetworkTest, LengthsThatMayDifferStayTwo) {
  OnnxModel onnx;
  onnx.input("a", {1, 2, 16}).input("b", {1, 2, 16}).initializer("w", {3, 2, 3}).output("y").output("z");
  onnx.node("ca", "Conv", {"a", "w"}, "y").attribute("strides", {2});
  onnx.node("cb", "Conv", {"b", "w"}, "z").attribute("strides", {2});
  onnx = with_open(with_open(onnx, 2, "s1", 0), 2, "s2", 1);
  const auto refused = read(onnx, {{"a", {1, 2, 16}}, {"b", {1, 2, 16}}},
                            {{{"a", {{2, "", 5, 16}}}, {"b", {{2, "", 5, 16}}}}, {}});
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, HasSubstr("there are 144 combinations of sizes"));
}

// Where two sizes are counted, a mean over both divides by both counts.
TEST_F(FreeNetworkTest, AMeanOverTwoSizesCountsBoth) {
  OnnxModel onnx;
  onnx.input("x", {20, 18, 3}).output("y").node("m", "ReduceMean", {"x"}, "y");
  onnx.attribute("axes", {0, 1}).attribute("keepdims", 0);
  const auto sized = read(onnx, {{"x", {20, 18, 3}}}, {{{"x", {{0, "h", 1, 20}, {1, "w", 1, 18}}}}, {}});
  ASSERT_TRUE(sized.has_value()) << sized.error().to_string();
  ASSERT_EQ(sized->free.dimensions.size(), 2U);
  const Values small = numbered({5, 7, 3});
  std::vector<Values> padded = {moved_to(small, {20, 18, 3}, 0)};
  for (const double count : {5.0, 7.0}) padded.push_back({{1}, {count}, DType::i64});
  const auto given = evaluate_graph(sized->graphs[0].graph, padded);
  ASSERT_TRUE(given.has_value()) << given.error().to_string();
  const Values expected{{3}, {52, 53, 54}};  // 1, 4, .. 103
  EXPECT_LT(relative_difference(*given, {expected}), 1e-12);
}

// Nothing is larger than what stands for a place that does not count where all that count are infinite.
TEST_F(FreeNetworkTest, TheLastOfInfinitePlacesIsOneThatCounts) {
  OnnxModel onnx;
  onnx.input("x", {20, 2}).output("y").node("a", "ArgMax", {"x"}, "y");
  onnx.attribute("axis", 0).attribute("keepdims", 0).attribute("select_last_index", 1);
  const auto sized = read(onnx, {{"x", {20, 2}}}, {{{"x", {{0, "", 1, 20}}}}, {}});
  ASSERT_TRUE(sized.has_value()) << sized.error().to_string();
  EXPECT_EQ(sized->free.dimensions[0].by, SizedBy::count);
  const double least = -std::numeric_limits<double>::infinity();
  const auto given = run(*sized, {{{3, 2}, {least, 1, least, 1, least, 0}}}, 3);
  ASSERT_EQ(given.size(), 1U);
  EXPECT_EQ(given[0].data, (std::vector<double>{2, 1}));
}

TEST_F(FreeNetworkTest, SumsRunAlongACountedSize) {
  for (const int reverse : {0, 1}) {
    for (const int64_t most : {12, 40}) {
      OnnxModel onnx;
      onnx.input("x", {2, 12, 3}).integers("axis", {1}).output("y").node("c", "CumSum", {"x", "axis"}, "y");
      onnx.attribute("reverse", reverse);
      const OnnxModel open = with_open(onnx, 1, "tokens");
      const auto sized = read(open, {{"x", {2, most, 3}}}, {{{"x", {{1, "", 1, most}}}}, {}});
      ASSERT_TRUE(sized.has_value()) << sized.error().to_string();
      EXPECT_EQ(sized->free.dimensions[0].by, SizedBy::count);
      check_every_size(open, *sized, {{"x", {2, most, 3}}});
      const auto fixed = read(onnx, {}, {{{"x", {{1, "", 1, most}}}}, {}});
      ASSERT_TRUE(fixed.has_value()) << fixed.error().to_string();
      check_every_size(onnx, *fixed, {{"x", {2, most, 3}}});
    }
  }
}

// Few real numbers that are computed of constants are constants once the file is read, many are not.
TEST_F(FreeNetworkTest, PositionsMayBeReal) {
  OnnxModel onnx;
  onnx.input("x", {1, 3}).output("y").integers("axis", {0}).integers("behind", {1});
  onnx.integers("zero", Shape{}, {0}).integers("one", Shape{}, {1});
  onnx.node("s", "Shape", {"x"}, "shape").node("g", "Gather", {"shape", "zero"}, "size");
  onnx.node("r", "Range", {"zero", "size", "one"}, "places").node("c", "Cast", {"places"}, "numbers");
  onnx.attribute("to", static_cast<int64_t>(onnx::TensorProto_DataType_FLOAT));
  onnx.node("u", "Unsqueeze", {"numbers", "behind"}, "column").node("a", "Add", {"x", "column"}, "y");
  const OnnxModel open = with_open(onnx, 0, "tokens");
  const auto sized = read(open, {{"x", {40, 3}}}, {{{"x", {{0, "", 1, 40}}}}, {}});
  ASSERT_TRUE(sized.has_value()) << sized.error().to_string();
  check_every_size(open, *sized, {{"x", {40, 3}}});
}

// A place behind the first of a file that fixes the size may be one from the end.
TEST_F(FreeNetworkTest, PlacesFromTheEndOfAFixedSizeMove) {
  OnnxModel onnx;
  onnx.input("x", {8, 2}).output("y").integers("from", {-3}).integers("to", {-1}).integers("axis", {0});
  onnx.node("s", "Slice", {"x", "from", "to", "axis"}, "y");
  const auto few = read(onnx, {}, {{{"x", {{0, "", 8, 20}}}}, {}});
  ASSERT_TRUE(few.has_value()) << few.error().to_string();
  EXPECT_EQ(few->free.dimensions[0].by, SizedBy::exact);
  check_every_size(onnx, *few, {{"x", {8, 2}}});
  const auto many = read(onnx, {}, {{{"x", {{0, "", 8, 160}}}}, {}});
  ASSERT_FALSE(many.has_value());
  EXPECT_THAT(many.error().message, HasSubstr("node 's' (Slice) is another one at size 9"));
  // Where the file cannot be read at another size, it does not say.
  onnx.integers("shape", {16}).node("r", "Reshape", {"x", "shape"}, "z").output("z");
  const auto spelled = read(onnx, {}, {{{"x", {{0, "", 8, 160}}}}, {}});
  ASSERT_FALSE(spelled.has_value());
  EXPECT_THAT(spelled.error().message,
              HasSubstr("node 's' (Slice): it reads one of the first or last 7 places"));
}

// Sizes of which each is compiled by itself may not stand in an axis with others either.
TEST_F(FreeNetworkTest, AnAxisOfAnOutputHoldsOneFreeSize) {
  OnnxModel onnx;
  onnx.input("x", {2, 5, 3}).output("y").integers("shape", {-1, 3}).integers("axis", {1});
  onnx.integers("from", {-1}).integers("to", {-100}).integers("step", {-1});
  onnx.node("s", "Slice", {"x", "from", "to", "axis", "step"}, "t");
  onnx.node("r", "Reshape", {"t", "shape"}, "y");
  const OnnxModel open = with_open(with_open(onnx, 0, "batch"), 1, "places");
  const auto both = read(open, {{"x", {4, 6, 3}}}, {{{"x", {{0, "", 1, 4}, {1, "", 1, 6}}}}, {}});
  ASSERT_FALSE(both.has_value());
  EXPECT_THAT(both.error().message, HasSubstr("axis 0 of output 'y' holds two sizes at once"));
}

// A batch that changes is no free size: another one may stand beside it.
TEST_F(FreeNetworkTest, AFreeSizeStandsBesideABatchThatChanges) {
  OnnxModel onnx;
  onnx.input("x", {1, 5, 3}).output("y").integers("shape", {-1, 3});
  onnx.node("r", "Reshape", {"x", "shape"}, "y");
  const auto sized = read(with_open(onnx, 1, "tokens"), {{"x", {1, 6, 3}}}, {{{"x", {{1, "", 1, 6}}}}, 4});
  ASSERT_TRUE(sized.has_value()) << sized.error().to_string();
  ASSERT_EQ(sized->free.extents.size(), 2U);
  EXPECT_EQ(sized->free.extents[1].outer, 4);
  EXPECT_EQ(sized->graphs[0].graph.tensor(sized->graphs[0].graph.outputs[0]).type.shape, (Shape{24, 3}));
}

// What a file cannot be at one of the sizes is told with the size, and why each is compiled by itself.
TEST_F(FreeNetworkTest, WhatOneSizeDoesNotAllowIsToldWithTheSize) {
  OnnxModel onnx;
  onnx.input("x", {6, 2}).output("y").integers("from", {-1}).integers("to", {-100}).integers("axis", {0});
  onnx.integers("step", {-1}).integers("shape", {12}).node("r", "Reshape", {"x", "shape"}, "t");
  onnx.node("s", "Slice", {"t", "from", "to", "axis", "step"}, "y");
  const auto sized = read(onnx, {}, {{{"x", {{0, "", 5, 7}}}}, {}});
  ASSERT_FALSE(sized.has_value());
  EXPECT_THAT(sized.error().message, HasSubstr("node 'r' (Reshape)"));
  EXPECT_THAT(sized.error().message,
              HasSubstr("(where 'x[0]' is 7; each of its sizes is compiled by itself:"));
}

TEST_F(FreeNetworkTest, TwoDimensionsMayBeFree) {
  const auto sized =
      read(attention_model(40), {{"x", {4, 40, 8}}}, {{{"x", {{0, "", 1, 4}, {1, "", 1, 40}}}}, {}});
  ASSERT_TRUE(sized.has_value()) << sized.error().to_string();
  ASSERT_EQ(sized->free.dimensions.size(), 2U);
  EXPECT_EQ(sized->free.dimensions[0].by, SizedBy::parts);
  EXPECT_EQ(sized->free.dimensions[1].by, SizedBy::count);
  EXPECT_EQ(sized->graphs.size(), 30U) << "1, 2, 4 by 4, 8, 12 .. 40";
}

}  // namespace
}  // namespace lathe
