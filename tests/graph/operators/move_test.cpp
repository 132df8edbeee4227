// Operators that move elements: the reference against indices computed by hand, and the network (interpreted
// task by task) against the reference.
#include <gtest/gtest.h>

#include <limits>

#include "expr/parse.h"
#include "expr/print.h"
#include "graph/network_runner.h"
#include "graph/onnx/import.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

constexpr int64_t kNoBound = std::numeric_limits<int64_t>::max();

// A model of one node `n` that reads x of this shape and gives y.
OnnxModel model_of(const Shape& shape, const char* type, const std::vector<std::string>& inputs = {"x"}) {
  OnnxModel model;
  model.input("x", shape).node("n", type, inputs, "y").output("y");
  return model;
}

TEST(Transpose, PutsTheOperandsAxesInTheOrderOfPerm) {
  const Values x = numbered({2, 3, 4});
  const Values y = run_network(model_of(x.shape, "Transpose").attribute("perm", {2, 0, 1}), {x});
  EXPECT_EQ(y.shape, (Shape{4, 2, 3}));
  std::vector<double> expected;
  for (int k = 0; k < 4; ++k)
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 3; ++j) expected.push_back(1 + 12 * i + 4 * j + k);
  EXPECT_EQ(y.data, expected);
}

TEST(Transpose, ReversesTheAxesByItself) {
  const Values x = numbered({2, 3});
  const Values y = run_network(model_of(x.shape, "Transpose"), {x});
  EXPECT_EQ(y.shape, (Shape{3, 2}));
  EXPECT_EQ(y.data, (std::vector<double>{1, 4, 2, 5, 3, 6}));
}

TEST(Transpose, RefusesAnOrderThatLeavesAxesOut) {
  EXPECT_EQ(import_error(model_of({2, 3}, "Transpose").attribute("perm", {0, 0})),
            "node 'n' (Transpose): the order 0,0 is none of the 2 axes");
  EXPECT_EQ(import_error(model_of({2, 3}, "Transpose").attribute("perm", {0, 2})),
            "node 'n' (Transpose): there is no axis 2 among 2 axes");
}

OnnxModel slice_model(int64_t start, int64_t end, int64_t step) {
  OnnxModel model;
  model.input("x", {2, 7}).integers("start", {start}).integers("end", {end}).integers("axis", {-1});
  model.integers("step", {step}).node("n", "Slice", {"x", "start", "end", "axis", "step"}, "y").output("y");
  return model;
}

TEST(Slice, BoundsCountFromTheEndAndStopAtTheAxis) {
  struct Case {
    int64_t start, end, step;
    std::vector<double> first_row;  // of 1 .. 7
  };
  const std::vector<Case> cases = {{1, 4, 1, {2, 3, 4}},
                                   {-3, -1, 1, {5, 6}},
                                   {5, 100, 1, {6, 7}},
                                   {-100, 2, 1, {1, 2}},
                                   {0, kNoBound, 3, {1, 4, 7}},
                                   {2, kNoBound, kNoBound, {3}},
                                   {-1, -kNoBound, -1, {7, 6, 5, 4, 3, 2, 1}},
                                   {kNoBound, -100, -2, {7, 5, 3, 1}},
                                   {4, 0, -3, {5, 2}},
                                   {4, -7, -3, {5, 2}}};
  for (const Case& test : cases) {
    SCOPED_TRACE(::testing::Message() << test.start << ":" << test.end << ":" << test.step);
    const Values y = run_network(slice_model(test.start, test.end, test.step), {numbered({2, 7})});
    std::vector<double> expected = test.first_row;
    for (const double x : test.first_row) expected.push_back(x + 7);
    EXPECT_EQ(y.data, expected);
  }
}

TEST(Slice, TakesTheFirstAxesWhereItNamesNone) {
  OnnxModel model;
  model.input("x", {3, 4}).integers("starts", {1, 2}).integers("ends", {3, 4});
  model.node("n", "Slice", {"x", "starts", "ends"}, "y").output("y");
  EXPECT_EQ(run_network(model, {numbered({3, 4})}).data, (std::vector<double>{7, 8, 11, 12}));
}

TEST(Slice, HasItsBoundsAsAttributesInOldOperatorSets) {
  OnnxModel model = model_of({3, 4}, "Slice").operator_set(9);
  model.attribute("starts", {-2, 1}).attribute("ends", {kNoBound, -2}).attribute("axes", {0, 1});
  EXPECT_EQ(run_network(model, {numbered({3, 4})}).data, (std::vector<double>{6, 10}));
}

TEST(Slice, NamesWhatItCannotTake) {
  EXPECT_EQ(import_error(slice_model(3, 3, 1)),
            "output 'y' has shape [2,0], which has no elements, and there is no other to compute");
  EXPECT_EQ(import_error(slice_model(3, 4, 0)), "node 'n' (Slice): the step of axis 1 is 0");
  OnnxModel twice = model_of({3, 4}, "Slice").operator_set(9);
  twice.attribute("starts", {0, 0}).attribute("ends", {1, 1}).attribute("axes", {1, -1});
  EXPECT_EQ(import_error(twice), "node 'n' (Slice): axis 1 is named twice");
  OnnxModel uneven = model_of({3, 4}, "Slice").operator_set(9);
  uneven.attribute("starts", {0, 0}).attribute("ends", {1});
  EXPECT_EQ(import_error(uneven), "node 'n' (Slice): its starts, ends, axes and steps are not of one length");
}

TEST(Concat, PutsOperandsSideBySide) {
  OnnxModel model;
  model.input("x", {2, 2}).initializer("c", {2, 1}, {-1, -2});
  model.node("n", "Concat", {"x", "c", "x"}, "y").attribute("axis", -1).output("y");
  const Values y = run_network(model, {numbered({2, 2})});
  EXPECT_EQ(y.shape, (Shape{2, 5}));
  EXPECT_EQ(y.data, (std::vector<double>{1, 2, -1, 1, 2, 3, 4, -2, 3, 4}));
}

TEST(Concat, JoinsWithWorkOnEachElementAroundIt) {
  OnnxModel model;
  model.input("x", {2, 2}).initializer("c", {3, 1}, {1, 10, 100});
  model.node("a", "Neg", {"x"}, "t").initializer("d", {1, 2}, {5, 6});
  model.node("n", "Concat", {"t", "d"}, "u").attribute("axis", 0).node("m", "Mul", {"u", "c"}, "y");
  model.output("y");
  EXPECT_EQ(run_network(model, {numbered({2, 2})}).data, (std::vector<double>{-1, -2, -30, -40, 500, 600}));
}

TEST(Concat, JoinsHundreds) {
  OnnxModel model;
  std::vector<std::string> names;
  std::vector<Values> inputs;
  std::vector<double> expected;
  for (int i = 0; i < 300; ++i) {
    names.push_back("x" + std::to_string(i));
    model.input(names.back(), {1 + i % 2});
    inputs.push_back({{1 + i % 2}, std::vector<double>(static_cast<size_t>(1 + i % 2), i)});
    expected.insert(expected.end(), inputs.back().data.begin(), inputs.back().data.end());
  }
  model.node("n", "Concat", names, "y").attribute("axis", 0).output("y");
  EXPECT_EQ(run_network(model, inputs).data, expected);
  const Result<Graph> graph = import_onnx_bytes(model.bytes(), "m.onnx");
  const Partition parts = partition(*graph).value();
  EXPECT_TRUE(parse_dag(lathe::to_string(parts.tasks.at(0).dag))) << "its formula is too deep";
}

TEST(Concat, RefusesOperandsThatDoNotJoin) {
  OnnxModel model = model_of({2, 3}, "Concat", {"x", "c"}).initializer("c", {3, 1}).attribute("axis", 1);
  EXPECT_EQ(import_error(model), "node 'n' (Concat): f32[2,3] and f32[3,1] do not join along axis 1");
  EXPECT_EQ(import_error(model_of({2, 3}, "Concat")), "node 'n' (Concat): it lacks the attribute 'axis'");
}

TEST(Expand, RepeatsAxesOfOnePlace) {
  OnnxModel model = model_of({2, 1}, "Expand", {"x", "shape"}).integers("shape", {2, 1, 3});
  const Values y = run_network(model, {numbered({2, 1})});
  EXPECT_EQ(y.shape, (Shape{2, 2, 3}));
  EXPECT_EQ(y.data, (std::vector<double>{1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2}));
  OnnxModel wrong = model_of({2, 3}, "Expand", {"x", "shape"}).integers("shape", {4, 3});
  EXPECT_EQ(import_error(wrong), "node 'n' (Expand): the shapes [2,3] and [4,3] do not broadcast");
}

TEST(Split, GivesPartsInOrder) {
  OnnxModel model;
  model.input("x", {2, 6}).integers("parts", {1, 3, 2}).node("n", "Split", {"x", "parts"}, "a").gives("b");
  model.gives("c").attribute("axis", 1).output("a").output("b").output("c");
  const Values x = numbered({2, 6});
  EXPECT_EQ(run_network(model, {x}, 0).data, (std::vector<double>{1, 7}));
  EXPECT_EQ(run_network(model, {x}, 1).data, (std::vector<double>{2, 3, 4, 8, 9, 10}));
  EXPECT_EQ(run_network(model, {x}, 2).data, (std::vector<double>{5, 6, 11, 12}));
}

// Splits x [5] in two by the attributes that `configure` adds.
template <class Configure>
OnnxModel halves(int64_t operator_set, Configure configure) {
  OnnxModel model = model_of({5}, "Split").operator_set(operator_set).gives("z").output("z");
  configure(model);
  return model;
}

TEST(Split, HasALastPartThatIsSmallerFromOperatorSet18On) {
  const OnnxModel model = halves(18, [](OnnxModel& m) { m.attribute("num_outputs", 2); });
  EXPECT_EQ(run_network(model, {numbered({5})}, 0).data, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(run_network(model, {numbered({5})}, 1).data, (std::vector<double>{4, 5}));
}

TEST(Split, NamesPartsThatDoNotMakeTheAxis) {
  EXPECT_EQ(import_error(halves(13, [](OnnxModel&) {})),
            "node 'n' (Split): parts of [3,3] do not give its 2 outputs of the 5 places of axis 0");
  EXPECT_EQ(import_error(halves(11, [](OnnxModel& m) { m.attribute("split", {-1, 6}); })),
            "node 'n' (Split): parts of [-1,6] do not give its 2 outputs of the 5 places of axis 0");
  EXPECT_EQ(
      import_error(halves(11, [](OnnxModel& m) { m.attribute("split", {kNoBound, kNoBound}); })),
      "node 'n' (Split): parts of [9223372036854775807,9223372036854775807] do not give its 2 outputs of "
      "the 5 places of axis 0");
  EXPECT_EQ(import_error(
                halves(13, [](OnnxModel& m) { m.proto.mutable_graph()->mutable_node(0)->clear_output(); })),
            "node 'n' (Split): parts of [] do not give its 0 outputs of the 5 places of axis 0");
}

}  // namespace
}  // namespace lathe
