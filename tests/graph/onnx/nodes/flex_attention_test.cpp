#include "graph/onnx/nodes/flex_attention.h"

#include <gtest/gtest.h>

#include <cmath>

#include "graph/network_runner.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

using Numbers = std::vector<double>;

// A body of one node over its input and a number of its own.
OnnxModel body(const char* type, float number) {
  OnnxModel made;
  return made.input("s", {}).initializer("w", {}, {number}).node("", type, {"s", "w"}, "t").output("t");
}

// Two heads of queries share one of keys; each place holds one number.
OnnxModel attention() {
  OnnxModel model;
  onnx::OperatorSetIdProto& set = *model.proto.add_opset_import();
  set.set_domain("ai.onnx.preview");
  set.set_version(1);
  model.operator_set(26).input("q", {1, 2, 1, 1}).input("k", {1, 1, 2, 1}).input("v", {1, 1, 2, 1});
  model.node("n", "FlexAttention", {"q", "k", "v"}, "y").output("y");
  model.proto.mutable_graph()->mutable_node(0)->set_domain("ai.onnx.preview");
  return model;
}

Numbers run(const OnnxModel& model) {
  const Values q{{1, 2, 1, 1}, {0, 1}}, k{{1, 1, 2, 1}, {0, std::log(3)}}, v{{1, 1, 2, 1}, {1, 5}};
  return run_network(model, {q, k, v}).data;
}

void expect_near(const Numbers& result, const Numbers& expected) {
  ASSERT_EQ(result.size(), expected.size());
  for (size_t i = 0; i < result.size(); ++i) EXPECT_NEAR(result[i], expected[i], 1e-5) << i;
}

// The weights are halves for the query 0, a quarter and three for the query 1.
TEST(OnnxFlexAttention, MixesValuesByTheirWeights) { expect_near(run(attention()), {3, 4}); }

TEST(OnnxFlexAttention, ScalesAndTakesItsBodiesIn) {
  expect_near(run(attention().attribute("scale", 0.0)), {3, 3});
  expect_near(run(attention().attribute("score_mod", body("Mul", 2))), {3, 4.6});  // 1 and 9
  expect_near(run(attention().attribute("prob_mod", body("Mul", 2))), {6, 8});
}

TEST(OnnxFlexAttention, NamesWhatItCannotTake) {
  OnnxModel two = body("Add", 1);
  EXPECT_EQ(import_error(attention().attribute("score_mod", two.output("s"))),
            "node 'n' (FlexAttention): 'score_mod' has not one input and one output");
  OnnxModel flat;
  flat.input("s", {}).node("", "ReduceSum", {"s"}, "t").output("t");
  EXPECT_EQ(
      import_error(attention().attribute("prob_mod", flat)),
      "node 'n' (FlexAttention): 'prob_mod' makes f32[1,1,1,1] of f32[1,2,1,2], and must keep the type");
  EXPECT_EQ(import_error(attention().attribute("window", 1)),
            "node 'n' (FlexAttention): it has the attribute 'window', which Lathe does not support");
  OnnxModel misfit = attention();
  misfit.proto.mutable_graph()->mutable_node(0)->set_input(1, "q");
  EXPECT_EQ(import_error(misfit),
            "node 'n' (FlexAttention): its queries [1,2,1,1], keys [1,2,1,1] and values [1,1,2,1] do not fit "
            "together");
  misfit.proto.mutable_graph()->mutable_node(0)->mutable_input()->RemoveLast();
  EXPECT_EQ(import_error(misfit), "node 'n' (FlexAttention): it has not three inputs and one output");
}

}  // namespace
}  // namespace lathe
