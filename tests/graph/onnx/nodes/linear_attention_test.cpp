#include "graph/onnx/nodes/linear_attention.h"

#include <gtest/gtest.h>

#include <cmath>

#include "graph/network_runner.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

using Numbers = std::vector<double>;

// One batch of two places, heads of two numbers.
OnnxModel attention(const char* rule, const std::vector<std::string>& inputs, int64_t heads,
                    int64_t key_heads) {
  OnnxModel model;
  model.operator_set(27).input("q", {1, 2, 2 * heads}).input("k", {1, 2, 2 * key_heads});
  model.input("v", {1, 2, key_heads});
  model.node("n", "LinearAttention", inputs, "y").gives("state").attribute("update_rule", rule);
  model.attribute("q_num_heads", heads).attribute("kv_num_heads", key_heads).attribute("scale", 2.0);
  return model.output("y").output("state");
}

const Values kQueries{{1, 2, 2}, {1, 0, 1, 1}};
const Values kKeys{{1, 2, 2}, {1, 2, 3, 1}};
const Values kValues{{1, 2, 1}, {5, 7}};

// The state is 5 * (1, 2), then that + 7 * (3, 1).
TEST(OnnxLinearAttention, AddsProductsOfKeysAndValues) {
  const OnnxModel model = attention("linear", {"q", "k", "v"}, 1, 1);
  EXPECT_EQ(run_network(model, {kQueries, kKeys, kValues}).data, (Numbers{10, 86}));
  EXPECT_EQ(run_network(model, {kQueries, kKeys, kValues}, 1).data, (Numbers{26, 17}));
}

TEST(OnnxLinearAttention, StartsFromAPastThatDecays) {
  OnnxModel model = attention("gated", {"q", "k", "v", "p", "d"}, 1, 1);
  model.input("p", {1, 1, 2, 1}).input("d", {1, 2, 2});
  const double half = std::log(0.5);
  const Values past{{1, 1, 2, 1}, {8, 16}}, decay{{1, 2, 2}, {half, 0, half, half}};
  // (4, 16) + 5 * (1, 2) = (9, 26), then (4.5, 13) + 7 * (3, 1) = (25.5, 20).
  const Values state = run_network(model, {kQueries, kKeys, kValues, past, decay}, 1);
  EXPECT_EQ(state.shape, (Shape{1, 1, 2, 1}));
  EXPECT_NEAR(state.data[0], 25.5, 1e-5);
  EXPECT_NEAR(state.data[1], 20, 1e-5);
}

TEST(OnnxLinearAttention, AddsWhatTheStateDoesNotKnow) {
  OnnxModel model = attention("delta", {"q", "k", "v", "", "", "b"}, 1, 1);
  model.input("b", {1, 2, 1});
  const Values beta{{1, 2, 1}, {1, 0.5}};
  // (5, 10); the second key finds 25 there, so that (7 - 25) / 2 is added: (5, 10) - 9 * (3, 1).
  EXPECT_EQ(run_network(model, {kQueries, kKeys, kValues, beta}, 1).data, (Numbers{-22, 1}));
}

TEST(OnnxLinearAttention, HeadsOfQueriesShareAState) {
  const OnnxModel model = attention("linear", {"q", "k", "v"}, 2, 1);
  const Values queries{{1, 2, 4}, {1, 0, 0, 1, 1, 0, 0, 1}};
  EXPECT_EQ(run_network(model, {queries, kKeys, kValues}).data, (Numbers{10, 20, 52, 34}));
}

TEST(OnnxLinearAttention, NamesWhatItCannotTake) {
  EXPECT_EQ(import_error(attention("square", {"q", "k", "v"}, 1, 1)),
            "node 'n' (LinearAttention): its rule 'square' is none of linear, gated, delta and gated_delta");
  EXPECT_EQ(import_error(attention("gated", {"q", "k", "v"}, 1, 1)),
            "node 'n' (LinearAttention): its rule is 'gated', which takes a decay and no beta");
  EXPECT_EQ(import_error(attention("linear", {"q", "q", "v"}, 2, 1)),
            "node 'n' (LinearAttention): its queries [1,2,4], keys [1,2,4] and values [1,2,1] do not fit 2 "
            "and 1 heads");
  EXPECT_EQ(import_error(attention("linear", {"q", "k", "v", "q"}, 1, 1)),
            "node 'n' (LinearAttention): input 3 has shape [1,2,2], and must be [1,1,2,1]");
  OnnxModel decaying = attention("gated", {"q", "k", "v", "", "d"}, 1, 1);
  EXPECT_EQ(import_error(decaying.input("d", {1, 1, 1})),
            "node 'n' (LinearAttention): input 4 has shape [1,1,1], and must be [1,2,1 or 2]");
  OnnxModel correcting = attention("delta", {"q", "k", "v", "", "", "b"}, 1, 1);
  EXPECT_EQ(import_error(correcting.input("b", {1, 2, 3})),
            "node 'n' (LinearAttention): input 5 has shape [1,2,3], and must be [1,2,1 or 1]");
  OnnxModel longer;
  longer.operator_set(27).input("x", {1, 5000, 1});
  longer.node("n", "LinearAttention", {"x", "x", "x"}, "y").attribute("update_rule", "linear");
  longer.attribute("q_num_heads", 1).attribute("kv_num_heads", 1).output("y");
  EXPECT_EQ(import_error(longer),
            "node 'n' (LinearAttention): its sequence has 5000 places, and Lathe supports 4096");
}

}  // namespace
}  // namespace lathe
