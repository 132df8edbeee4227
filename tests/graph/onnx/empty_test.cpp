#include "graph/onnx/empty.h"

#include <gtest/gtest.h>

#include <cmath>

#include "graph/network_runner.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

// What follows from an input x of no elements, which the network does not have.
OnnxModel nothing(const Shape& shape) {
  OnnxModel model;
  return model.operator_set(18).input("x", shape).input("z", {2, 1});
}

TEST(OnnxEmpty, WorksOutWhatFollowsFromNoElements) {
  using Numbers = std::vector<double>;
  const std::vector<std::pair<const char*, double>> kinds = {
      {"ReduceSum", 0},        {"ReduceProd", 1},           {"ReduceMax", -INFINITY},
      {"ReduceMin", INFINITY}, {"ReduceSumSquare", 0},      {"ReduceL1", 0},
      {"ReduceL2", 0},         {"ReduceLogSum", -INFINITY}, {"ReduceLogSumExp", -INFINITY}};
  for (const auto& [type, value] : kinds) {
    OnnxModel model = nothing({2, 0, 3}).integers("axes", {1}).node("n", type, {"x", "axes"}, "y");
    const Values result =
        run_network(model.node("a", "Add", {"y", "z"}, "w").output("w"), {{{2, 1}, {0, 0}}});
    EXPECT_EQ(result.shape, (Shape{2, 2, 3})) << type;
    EXPECT_EQ(result.data[0], value) << type;
  }
  OnnxModel product = nothing({2, 0}).node("t", "Transpose", {"x"}, "t").node("m", "MatMul", {"x", "t"}, "p");
  EXPECT_EQ(run_network(product.node("a", "Add", {"p", "z"}, "w").output("w"), {{{2, 1}, {1, 2}}}).data,
            (Numbers{1, 1, 2, 2}));
  OnnxModel shape = nothing({2, 0}).node("e", "Exp", {"x"}, "e").node("s", "Shape", {"e"}, "s");
  EXPECT_EQ(run_network(shape.output("s"), {{{2, 1}, {1, 2}}}).data, (Numbers{2, 0}));
}

TEST(OnnxEmpty, TensorsWithoutElementsKeepTheirShapes) {
  const auto shape_of = [](OnnxModel model) {
    return run_network(model.node("s", "Shape", {"y"}, "s").output("s"), {{{2, 1}, {1, 2}}}).data;
  };
  using Numbers = std::vector<double>;
  EXPECT_EQ(shape_of(nothing({0, 3}).integers("to", {3, -1}).node("n", "Reshape", {"x", "to"}, "y")),
            (Numbers{3, 0}));
  EXPECT_EQ(shape_of(nothing({0, 3}).integers("to", {0, 1, 3}).node("n", "Reshape", {"x", "to"}, "y")),
            (Numbers{0, 1, 3}));
  EXPECT_EQ(shape_of(nothing({1, 0}).node("n", "Mul", {"x", "z"}, "y")), (Numbers{2, 0}));
  EXPECT_EQ(shape_of(nothing({1, 0}).node("n", "Concat", {"x", "x"}, "y").attribute("axis", 0)),
            (Numbers{2, 0}));
  EXPECT_EQ(shape_of(nothing({2, 0})
                         .integers("axis", {1})
                         .integers("from", {-1})
                         .integers("to", {9})
                         .node("n", "Slice", {"x", "from", "to", "axis"}, "y")),
            (Numbers{2, 0}));
  EXPECT_EQ(shape_of(nothing({3, 0})
                         .initializer("at", {0})
                         .node("c", "Cast", {"at"}, "i")
                         .attribute("to", 7)
                         .node("n", "Gather", {"z", "i"}, "y")),
            (Numbers{0, 1}));
  OnnxModel wrong = nothing({0, 3}).integers("to", {3, 2}).node("n", "Reshape", {"x", "to"}, "y").output("y");
  EXPECT_EQ(import_error(wrong), "node 'n' (Reshape): the shape [3,2] does not hold the 0 elements of [0,3]");
}

// Slices of masks of windows that are as large as the image (Swin) are updated so.
TEST(OnnxEmpty, NothingIsScattered) {
  using Numbers = std::vector<double>;
  const auto scattered = [](const char* type, const Shape& indices) {
    OnnxModel model = OnnxModel().operator_set(18).input("z", {2, 1}).input("x", {0, 1});
    model.input("at", indices, onnx::TensorProto_DataType_INT64);
    return model.node("n", type, {"z", "at", "x"}, "y").output("y");
  };
  EXPECT_EQ(run_network(scattered("ScatterND", {0, 1}), {{{2, 1}, {4, 5}}}).data, (Numbers{4, 5}));
  EXPECT_EQ(run_network(scattered("ScatterElements", {0, 1}), {{{2, 1}, {4, 5}}}).data, (Numbers{4, 5}));
  EXPECT_EQ(import_error(scattered("ScatterND", {0, 2})),
            "node 'n' (ScatterND): its inputs [2,1], [0,2] and [0,1] do not fit together");
  // Into data without elements.
  OnnxModel into = nothing({0, 1}).input("at", {0, 1}, onnx::TensorProto_DataType_INT64);
  into.node("n", "ScatterND", {"x", "at", "x"}, "y").node("s", "Shape", {"y"}, "s").output("s");
  EXPECT_EQ(run_network(into, {{{2, 1}, {1, 2}}}).data, (Numbers{0, 1}));
}

TEST(OnnxEmpty, IndicesLieInsideOfDataWithoutElements) {
  for (const char* type : {"ScatterElements", "ScatterND"}) {
    OnnxModel model = OnnxModel().operator_set(18).input("z", {0, 2}).input("u", {1, 2});
    const bool is_slice = std::string(type) == "ScatterND";
    model.integers("at", is_slice ? Shape{1, 1} : Shape{1, 2}, std::vector<int64_t>(is_slice ? 1 : 2, 0));
    model.node("n", type, {"z", "at", "u"}, "y").node("s", "Shape", {"y"}, "s").output("s");
    EXPECT_EQ(import_error(model),
              std::string("node 'n' (") + type + "): there is no place 0 in axis 0 of [0,2]");
  }
}

TEST(OnnxEmpty, CastsToTheTypeOfATensorWithoutElements) {
  OnnxModel model = nothing({0}).node("n", "CastLike", {"z", "like"}, "y").output("y");
  model.input("like", {0}, onnx::TensorProto_DataType_INT32).operator_set(19);
  EXPECT_EQ(run_network(model, {{{2, 1}, {1.5, -2}}}).data, (std::vector<double>{1, -2}));
}

// 17 is E4M3FN, whose codes of 1.5 and -2 these are.
TEST(OnnxEmpty, CastsToTheCodesOfATensorWithoutElements) {
  OnnxModel model = nothing({0}).node("n", "CastLike", {"z", "like"}, "y").output("y");
  model.input("like", {0}, 17).operator_set(19);
  EXPECT_EQ(run_network(model, {{{2, 1}, {1.5, -2}}}).data, (std::vector<double>{0x3C, 0xC0}));
}

TEST(OnnxEmpty, TheLargestOfNoTruthsIsFalse) {
  for (const auto& [type, expected] : {std::pair{"ReduceMax", 0}, std::pair{"ReduceMin", 1}}) {
    OnnxModel model;
    model.input("none", {0, 2}, onnx::TensorProto_DataType_BOOL).input("z", {2});
    model.integers("axes", {0}).node("r", type, {"none", "axes"}, "b").attribute("keepdims", 0);
    model.node("c", "Cast", {"b"}, "f").attribute("to", 1).node("n", "Add", {"z", "f"}, "y").output("y");
    model.operator_set(20);
    EXPECT_EQ(run_network(model, {{{2}, {3, 4}}}).data,
              (std::vector<double>{3.0 + expected, 4.0 + expected}));
  }
}

TEST(OnnxEmpty, KnowsWhatAnOperatorGivesOfNone) {
  ReduceOp mean;
  mean.function = ReduceFunction::mean;
  EXPECT_TRUE(std::isnan(value_of_none(mean).value_or(0)));
  EXPECT_EQ(value_of_none(MapOp{}), std::nullopt);
  EXPECT_TRUE(takes_no_elements("Add"));
  EXPECT_FALSE(takes_no_elements("Conv"));
  EXPECT_EQ(one_for_none({3, 0, 5}), "3,1,5");
}

}  // namespace
}  // namespace lathe
