#include "graph/onnx/nodes/selections.h"

#include <gtest/gtest.h>

#include <limits>

#include "graph/network_runner.h"
#include "graph/onnx/import.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

constexpr int kBool = onnx::TensorProto_DataType_BOOL;

using Numbers = std::vector<double>;

// y of one node over x [2,3].
OnnxModel of_x(const char* type, const std::vector<std::string>& inputs) {
  OnnxModel model;
  return model.input("x", {2, 3}).node("n", type, inputs, "y");
}

TEST(OnnxSelections, NonZeroGivesPlacesAndHowManyCount) {
  const OnnxModel model = of_x("NonZero", {"x"}).output("y");
  const Values x{{2, 3}, {0, 5, 0, -1, 0, 2}};
  const Values places = run_network(model, {x});
  EXPECT_EQ(places.shape, (Shape{2, 6}));
  EXPECT_EQ(places.data, (Numbers{0, 1, 1, 0, 0, 0, 1, 0, 2, 0, 0, 0}));
  EXPECT_EQ(run_network(model, {x}, 1).data, (Numbers{3}));
  const Result<Graph> graph = import_onnx_bytes(model.bytes(), "m");
  ASSERT_TRUE(graph) << graph.error().to_string();
  EXPECT_EQ(graph->tensor(graph->outputs[1]).name, "y.count");
  EXPECT_EQ(graph->notes,
            (std::vector<std::string>{"m: 'y' has up to 6 places along axis 1, and only a run tells "
                                      "how many: output 'y.count' does"}));
}

// What is selected of many places lies before all others.
TEST(OnnxSelections, NonZeroOfManyPlaces) {
  OnnxModel model;
  model.input("x", {3, 700}).node("n", "NonZero", {"x"}, "y").output("y");
  Values x{{3, 700}, Numbers(2100)};
  Numbers rows(2100), columns(2100);
  size_t count = 0;
  for (size_t i = 1; i < 2100; i += 1 + i % 7) {
    x.data[i] = 0.5;
    const size_t row = i / 700, column = i % 700;
    rows[count] = static_cast<double>(row);
    columns[count++] = static_cast<double>(column);
  }
  rows.insert(rows.end(), columns.begin(), columns.end());
  EXPECT_EQ(run_network(model, {x}).data, rows);
  EXPECT_EQ(run_network(model, {x}, 1).data, (Numbers{static_cast<double>(count)}));
}

TEST(OnnxSelections, NonZeroOfAConstantIsExact) {
  OnnxModel model;
  model.input("z", {}).initializer("x", {2, 2}, {0, 1, 0, 1}).node("n", "NonZero", {"x"}, "i");
  model.node("c", "Cast", {"i"}, "r").attribute("to", 1).node("a", "Add", {"r", "z"}, "y").output("y");
  const Values y = run_network(model, {{{}, {0}}});
  EXPECT_EQ(y.shape, (Shape{2, 2}));
  EXPECT_EQ(y.data, (Numbers{0, 1, 1, 1}));
}

TEST(OnnxSelections, CompressTakesWhatAConditionSays) {
  OnnxModel model = of_x("Compress", {"x", "c"}).input("c", {3}, kBool).attribute("axis", -1).output("y");
  const Values x = numbered({2, 3});
  EXPECT_EQ(run_network(model, {x, {{3}, {1, 0, 1}}}).data, (Numbers{1, 3, 0, 4, 6, 0}));
  EXPECT_EQ(run_network(model, {x, {{3}, {1, 0, 1}}}, 1).data, (Numbers{2}));
  EXPECT_EQ(run_network(model, {x, {{3}, {0, 0, 0}}}, 1).data, (Numbers{0}));
  OnnxModel flat = of_x("Compress", {"x", "c"}).input("c", {5}, kBool).output("y");
  EXPECT_EQ(run_network(flat, {x, {{5}, {0, 1, 0, 1, 1}}}).data, (Numbers{2, 4, 5, 0, 0}));
  OnnxModel known = of_x("Compress", {"x", "c"}).integers("i", {0, 1}).output("y").attribute("axis", 0);
  known.node("", "Cast", {"i"}, "c").attribute("to", kBool);
  EXPECT_EQ(run_network(known, {x}).data, (Numbers{4, 5, 6}));
  EXPECT_EQ(import_error(of_x("Compress", {"x", "c"}).input("c", {3}, kBool).attribute("axis", 0)),
            "node 'n' (Compress): its condition is bool[3], and its axis has 2 places");
}

// What counts is followed to what else reads it.
TEST(OnnxSelections, FollowsTheCountThroughWhatMovesAndLooksUp) {
  OnnxModel model = of_x("Compress", {"x", "c"}).input("c", {2}, kBool).attribute("axis", 0);
  model.node("e", "Exp", {"y"}, "e").node("t", "Transpose", {"e"}, "t").node("r", "ReduceSum", {"t"}, "r");
  model.attribute("keepdims", 0).integers("axes", {0}).output("r");
  model.proto.mutable_graph()->mutable_node(3)->add_input("axes");
  EXPECT_EQ(run_network(model, {{{2, 3}, {1, 1, 1, 0, 0, 0}}, {{2}, {0, 1}}}).data, (Numbers{3, 0}));
  EXPECT_EQ(run_network(model, {{{2, 3}, {1, 1, 1, 0, 0, 0}}, {{2}, {0, 1}}}, 1).data, (Numbers{1}));
  OnnxModel places = of_x("NonZero", {"x"}).integers("one", {}, {1}).initializer("table", {3}, {5, 6, 7});
  places.node("g", "Gather", {"y", "one"}, "columns")
      .node("l", "Gather", {"table", "columns"}, "z")
      .output("z");
  EXPECT_EQ(run_network(places, {{{2, 3}, {0, 0, 1, 0, 1, 0}}}).data, (Numbers{7, 6, 0, 0, 0, 0}));
}

// As experts take the rows that chose them: of either matrix what is not summed up.
TEST(OnnxSelections, FollowsTheCountThroughGemm) {
  OnnxModel model = of_x("Compress", {"x", "c"}).input("c", {2}, kBool).attribute("axis", 0);
  model.initializer("w", {2, 3}, {1, 0, 0, 0, 1, 1}).initializer("b", {2}, {10, 20});
  OnnxModel rows = model;
  rows.node("g", "Gemm", {"y", "w", "b"}, "z").attribute("transB", 1).output("z");
  const std::vector<Values> inputs{numbered({2, 3}), {{2}, {0, 1}}};
  EXPECT_EQ(run_network(rows, inputs).data, (Numbers{14, 31, 0, 0}));
  EXPECT_EQ(run_network(rows, inputs, 1).data, (Numbers{1}));
  OnnxModel columns = model;
  columns.node("g", "Gemm", {"w", "y"}, "z").attribute("transB", 1).output("z");
  EXPECT_EQ(run_network(columns, inputs).data, (Numbers{4, 0, 11, 0}));
  OnnxModel summed = model;
  summed.initializer("v", {2, 4}, std::vector<float>(8, 1))
      .node("g", "Gemm", {"y", "v"}, "z")
      .attribute("transA", 1);
  EXPECT_TRUE(import_error(summed.output("z")).ends_with("Lathe does not support that here"));
}

TEST(OnnxSelections, RefusesWhatWouldCountWhatDoesNot) {
  const char* const reason =
      "'y#2' has up to 2 places along axis 0, and only a run tells how many; Lathe does not support that "
      "here";
  const auto refusal = [](const char* type, const std::vector<std::string>& inputs, const char* attribute) {
    OnnxModel model = of_x("Compress", {"x", "c"}).input("c", {2}, kBool).attribute("axis", 0);
    model.node("m", type, inputs, "z");
    if (attribute != nullptr) model.attribute(attribute, 0);
    const std::string error = import_error(model.output("z"));
    return error.substr(error.find("'y"));
  };
  const std::string said = refusal("Softmax", {"y"}, "axis");
  EXPECT_EQ(said.substr(said.find(" has")), std::string(reason).substr(std::string(reason).find(" has")));
  for (const auto& each : {refusal("Shape", {"y"}, nullptr), refusal("Add", {"y", "x"}, nullptr),
                           refusal("Concat", {"y", "y"}, "axis"), refusal("ReduceSum", {"y"}, "keepdims")})
    EXPECT_TRUE(each.ends_with("only a run tells how many; Lathe does not support that here")) << each;
}

TEST(OnnxSelections, UniqueGivesWhatDiffersAndWhereItStands) {
  OnnxModel model;
  model.input("x", {5}).node("n", "Unique", {"x"}, "y").gives("first").gives("which").gives("often");
  model.output("y").output("first").output("which").output("often");
  const std::vector<Values> x{{{5}, {2, 1, 2, 3, 1}}};
  // Each but `which` is followed by its count.
  EXPECT_EQ(run_network(model, x, 0).data, (Numbers{1, 2, 3, 0, 0}));
  EXPECT_EQ(run_network(model, x, 1).data, (Numbers{3}));
  EXPECT_EQ(run_network(model, x, 2).data, (Numbers{1, 0, 3, 0, 0}));
  EXPECT_EQ(run_network(model, x, 4).data, (Numbers{1, 0, 1, 2, 0}));
  EXPECT_EQ(run_network(model, x, 5).data, (Numbers{2, 2, 1, 0, 0}));
  model.attribute("sorted", 0);
  EXPECT_EQ(run_network(model, x, 0).data, (Numbers{2, 1, 3, 0, 0}));
  EXPECT_EQ(run_network(model, x, 4).data, (Numbers{0, 1, 0, 2, 1}));
  OnnxModel wide;
  wide.input("x", {2, 300}).node("n", "Unique", {"x"}, "y").attribute("axis", 0).output("y");
  EXPECT_EQ(import_error(wide),
            "node 'n' (Unique): it compares 300 numbers of each place of axis 0, and Lathe supports 256");
}

TEST(OnnxSelections, UniqueComparesPlacesOfAnAxis) {
  OnnxModel model;
  model.input("x", {3, 2}).node("n", "Unique", {"x"}, "y").attribute("axis", 0).output("y");
  EXPECT_EQ(run_network(model, {{{3, 2}, {1, 2, 1, 0, 1, 2}}}).data, (Numbers{1, 0, 1, 2, 0, 0}));
}

// One batch of four boxes.
OnnxModel suppression(int64_t most, const std::vector<std::string>& inputs, int64_t classes = 1) {
  OnnxModel model;
  model.input("b", {1, 4, 4}).input("s", {1, classes, 4}).integers("most", {most});
  model.initializer("half", {1}, {0.5}).initializer("low", {1}, {0.25});
  return model.node("n", "NonMaxSuppression", inputs, "y").output("y");
}

// 1 x 1, at these places along x.
Values boxes() { return {{1, 4, 4}, {0, 0, 1, 1, 0, 0.1, 1, 1.1, 1, 3, 0, 2, 0, 2.6, 1, 3.6}}; }

TEST(OnnxSelections, SuppressesWhatOverlapsTheBest) {
  const Values scores{{1, 1, 4}, {0.5, 0.9, 0.2, 0.3}};
  const OnnxModel all = suppression(3, {"b", "s", "most", "half"});
  EXPECT_EQ(run_network(all, {boxes(), scores}).data, (Numbers{0, 0, 1, 0, 0, 3, 0, 0, 2}));
  EXPECT_EQ(run_network(all, {boxes(), scores}, 1).data, (Numbers{3}));
  const OnnxModel good = suppression(3, {"b", "s", "most", "half", "low"});
  EXPECT_EQ(run_network(good, {boxes(), scores}).data, (Numbers{0, 0, 1, 0, 0, 3, 0, 0, 0}));
  EXPECT_EQ(run_network(good, {boxes(), scores}, 1).data, (Numbers{2}));
  // Without a threshold all that overlap go; of equal scores the first box is taken.
  const OnnxModel strict = suppression(4, {"b", "s", "most"});
  const Values equal{{1, 1, 4}, {1, 1, 1, 1}};
  EXPECT_EQ(run_network(strict, {boxes(), equal}).data, (Numbers{0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(run_network(strict, {boxes(), equal}, 1).data, (Numbers{2}));
}

TEST(OnnxSelections, NamesWhatItCannotSuppress) {
  EXPECT_EQ(import_error(suppression(3, {"s", "b", "most"})),
            "node 'n' (NonMaxSuppression): its boxes [1,1,4] and scores [1,4,4] do not fit together");
  EXPECT_EQ(import_error(suppression(3, {"b", "s"})),
            "output 'y' has shape [0,3], which has no elements, and there is no other to compute");
  EXPECT_EQ(import_error(suppression(3, {"b", "s", "most", "b"})),
            "node 'n' (NonMaxSuppression): input 3 is f32[1,4,4], and must be one f32");
  OnnxModel many;
  many.input("b", {1, 30000, 4}).input("s", {1, 40, 30000}).integers("most", {30000});
  EXPECT_EQ(import_error(many.node("n", "NonMaxSuppression", {"b", "s", "most"}, "y").output("y")),
            "node 'n' (NonMaxSuppression): it selects up to 1200000 boxes, 30000 of each class, and Lathe "
            "supports 1048576 together");
  OnnxModel list;
  list.input("b", {1, 4, 4}).input("s", {1, 1, 4}).integers("most", {2, 3});
  EXPECT_EQ(import_error(list.node("n", "NonMaxSuppression", {"b", "s", "most"}, "y").output("y")),
            "node 'n' (NonMaxSuppression): input 2 has shape [2], and must be one i64");
}

// PyTorch's exporters write the largest integer for torchvision.ops.nms. One class ends before the other, and
// a score that is no number is none.
TEST(OnnxSelections, TheLargestCountOfBoxesIsAllOfThem) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  const Values scores{{1, 2, 4}, {0.5, 0.9, 0.2, 0.3, 0.5, none, 0.7, 0.6}};
  const OnnxModel all = suppression(std::numeric_limits<int64_t>::max(), {"b", "s", "most", "half"}, 2);
  const Numbers found = run_network(all, {boxes(), scores}).data;
  EXPECT_EQ(Numbers(found.begin(), found.begin() + 18),
            (Numbers{0, 0, 1, 0, 0, 3, 0, 0, 2, 0, 1, 2, 0, 1, 3, 0, 1, 0}));
  EXPECT_EQ(run_network(all, {boxes(), scores}, 1).data, (Numbers{6}));
  const Values nothing{{1, 2, 4}, Numbers(8, -std::numeric_limits<double>::infinity())};
  EXPECT_EQ(run_network(all, {boxes(), nothing}, 1).data, (Numbers{0}));
}

}  // namespace
}  // namespace lathe
