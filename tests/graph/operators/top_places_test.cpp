#include "graph/operators/top_places.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "graph/network_runner.h"
#include "graph/onnx/import.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

using Numbers = std::vector<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

OnnxModel top_model(const Shape& shape, int64_t count, int64_t axis, int64_t largest) {
  OnnxModel model;
  model.operator_set(11).input("x", shape).integers("k", {count});
  model.node("n", "TopK", {"x", "k"}, "v").gives("i").attribute("axis", axis).attribute("largest", largest);
  model.output("v").output("i");
  return model;
}

TEST(TopPlaces, EqualElementsStayInOrder) {
  const Values x{{6}, {3, 1, 4, 1, 4, -kInfinity}};
  const OnnxModel largest = top_model({6}, 4, 0, 1);
  EXPECT_EQ(run_network(largest, {x}, 0).data, (Numbers{4, 4, 3, 1}));
  EXPECT_EQ(run_network(largest, {x}, 1).data, (Numbers{2, 4, 0, 1}));
  const OnnxModel smallest = top_model({6}, 3, -1, 0);
  EXPECT_EQ(run_network(smallest, {x}, 0).data, (Numbers{-kInfinity, 1, 1}));
  EXPECT_EQ(run_network(smallest, {x}, 1).data, (Numbers{5, 1, 3}));
}

TEST(TopPlaces, NanIsLargerThanAllNumbers) {
  const Values x{{6}, {3, kNan, kInfinity, 1, kNan, 2}};
  EXPECT_EQ(run_network(top_model({6}, 6, 0, 1), {x}, 1).data, (Numbers{1, 4, 2, 0, 5, 3}));
  EXPECT_EQ(run_network(top_model({6}, 6, 0, 0), {x}, 1).data, (Numbers{3, 5, 0, 2, 1, 4}));
}

TEST(TopPlaces, AlongAnyAxis) {
  const Values x{{2, 3, 2}, {1, 9, 5, 8, 3, 7, 0, 1, 2, 3, 4, 5}};
  const OnnxModel model = top_model({2, 3, 2}, 2, 1, 1);
  EXPECT_EQ(run_network(model, {x}, 0).data, (Numbers{5, 9, 3, 8, 4, 5, 2, 3}));
  EXPECT_EQ(run_network(model, {x}, 1).data, (Numbers{1, 0, 2, 1, 2, 2, 1, 1}));
}

TEST(TopPlaces, TheReferenceSaysTheSame) {
  const Values x{{2, 4}, {3, kNan, 4, kNan, 1, 1, 0, 1}};
  for (const bool largest : {true, false}) {
    const TopPlacesOp op{1, 4, largest};
    const Values reference = evaluate(op, std::vector<Values>{x});
    EXPECT_EQ(reference.data, run_network(top_model({2, 4}, 4, 1, largest ? 1 : 0), {x}, 1).data);
  }
}

TEST(TopPlaces, TheCountIsAnAttributeOfOldModels) {
  OnnxModel model;
  model.operator_set(1).input("x", {3}).node("n", "TopK", {"x"}, "v").attribute("k", 2).output("v");
  EXPECT_EQ(run_network(model, {{{3}, {1, 3, 2}}}).data, (Numbers{3, 2}));
}

TEST(TopPlaces, MoreThanThereAreAreRefused) {
  const auto graph = import_onnx_bytes(top_model({3}, 4, 0, 1).bytes(), "m");
  ASSERT_FALSE(graph);
  EXPECT_NE(graph.error().message.find("it asks for 4 of the 3 places of axis 0 of [3]"), std::string::npos)
      << graph.error().message;
  EXPECT_FALSE(import_onnx_bytes(top_model({3}, 0, 0, 1).bytes(), "m"));
}

}  // namespace
}  // namespace lathe
