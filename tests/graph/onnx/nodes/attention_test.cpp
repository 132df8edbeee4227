#include "graph/onnx/nodes/attention.h"

#include <gtest/gtest.h>

#include <cmath>

#include "graph/network_runner.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

Values queries() { return {{1, 1, 2, 1}, {0, std::log(3.0)}}; }
Values keys() { return {{1, 1, 3, 1}, {0, 1, 0}}; }
Values values() { return {{1, 1, 3, 1}, {1, 6, 11}}; }

// Attention of q [1,1,2,1], k and v [1,1,3,1]; more inputs follow.
OnnxModel attention_model(const std::vector<std::string>& inputs = {"q", "k", "v"}) {
  OnnxModel model;
  model.operator_set(23).input("q", {1, 1, 2, 1}).input("k", {1, 1, 3, 1}).input("v", {1, 1, 3, 1});
  model.node("n", "Attention", inputs, "y").attribute("scale", 1.0).output("y");
  return model;
}

void expect_near(const OnnxModel& model, const std::vector<Values>& inputs,
                 const std::vector<double>& expected, size_t output = 0) {
  const std::vector<double> actual = run_network(model, inputs, output).data;
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 1e-5) << i;
}

// The first query weighs all keys alike, the second the middle one three times as much as the others.
TEST(OnnxAttention, WeighsValuesByTheirKeys) {
  expect_near(attention_model(), {queries(), keys(), values()}, {6, 6});
  const Values rising{{1, 1, 3, 1}, {0, 5, 15}};
  expect_near(attention_model(), {queries(), keys(), rising}, {20.0 / 3, 6});
}

TEST(OnnxAttention, ACausalQueryLooksAtNoLaterKey) {
  expect_near(attention_model().attribute("is_causal", 1), {queries(), keys(), values()}, {1, 4.75});
}

TEST(OnnxAttention, AWindowBoundsHowFarAQueryLooks) {
  OnnxModel model = attention_model();
  model.attribute("left_window_size", 0).attribute("right_window_size", 1);
  expect_near(model, {queries(), keys(), values()}, {3.5, 7.25});
}

// 1: f32; 10 and 16: f16 and bf16, whose numbers are f32; 11: f64.
TEST(OnnxAttention, SaysWhichPrecisionASoftmaxMayHave) {
  for (const int precision : {1, 10, 16})
    expect_near(attention_model().attribute("softmax_precision", precision), {queries(), keys(), values()},
                {6, 6});
  EXPECT_EQ(import_error(attention_model().attribute("softmax_precision", 7)),
            "node 'n' (Attention): attribute 'softmax_precision' is 7, and must be 1, 10, 11 or 16");
}

TEST(OnnxAttention, TakesMasksOfNumbers) {
  OnnxModel model = attention_model({"q", "k", "v", "mask"}).input("mask", {2, 3});
  const double none = -INFINITY;
  expect_near(model, {queries(), keys(), values(), {{2, 3}, {0, none, 0, 0, none, std::log(2.0)}}},
              {6, 23.0 / 3});
}

TEST(OnnxAttention, AQueryThatLooksAtNothingGivesZero) {
  OnnxModel model = attention_model({"q", "k", "v", "mask"}).input("mask", {2, 3});
  const double none = -INFINITY;
  expect_near(model, {queries(), keys(), values(), {{2, 3}, {none, none, none, 0, 0, none}}}, {0, 4.75});
}

TEST(OnnxAttention, ThePastStandsBeforeTheKeys) {
  OnnxModel model = attention_model({"q", "k", "v", "", "pk", "pv"});
  model.input("pk", {1, 1, 1, 1}).input("pv", {1, 1, 1, 1}).attribute("is_causal", 1);
  model.gives("keys").gives("values").output("keys").output("values");
  const std::vector<Values> inputs{queries(), keys(), values(), {{1, 1, 1, 1}, {0}}, {{1, 1, 1, 1}, {3}}};
  expect_near(model, inputs, {2, 22.0 / 5});
  expect_near(model, inputs, {0, 0, 1, 0}, 1);
  expect_near(model, inputs, {3, 1, 6, 11}, 2);
}

// Two of the three keys count, and the last query stands at the second of them.
TEST(OnnxAttention, CountsTheKeysThatItIsTold) {
  OnnxModel model = attention_model({"q", "k", "v", "", "", "", "n"});
  model.input("n", {1}, onnx::TensorProto_DataType_INT64);
  expect_near(model, {queries(), keys(), values(), {{1}, {2}}}, {3.5, 4.75});
  model.attribute("is_causal", 1);
  expect_near(model, {queries(), keys(), values(), {{1}, {2}}}, {1, 4.75});
  expect_near(model, {queries(), keys(), values(), {{1}, {1}}}, {0, 1});
  model.attribute("left_window_size", 0);
  expect_near(model, {queries(), keys(), values(), {{1}, {2}}}, {1, 6});
}

TEST(OnnxAttention, AKeyBeyondTheMaskIsNotLookedAt) {
  OnnxModel model = attention_model({"q", "k", "v", "mask"}).input("mask", {2, 2});
  expect_near(model, {queries(), keys(), values(), {{2, 2}, {0, 0, 0, 0}}}, {3.5, 4.75});
}

// Flat operands: two heads of queries share the one of the keys.
TEST(OnnxAttention, HeadsShareKeysAndValues) {
  OnnxModel model;
  model.operator_set(23).input("q", {1, 2, 2}).input("k", {1, 3, 1}).input("v", {1, 3, 1});
  model.node("n", "Attention", {"q", "k", "v"}, "y").attribute("scale", 1.0).output("y");
  model.attribute("q_num_heads", 2).attribute("kv_num_heads", 1);
  const double three = std::log(3.0);
  expect_near(model, {{{1, 2, 2}, {0, three, three, 0}}, {{1, 3, 1}, {0, 1, 0}}, {{1, 3, 1}, {0, 5, 15}}},
              {20.0 / 3, 6, 6, 20.0 / 3});
}

TEST(OnnxAttention, GivesTheProductsThatAreAskedFor) {
  OnnxModel model = attention_model().gives("").gives("").gives("products").output("products");
  const double three = std::log(3.0);
  expect_near(model, {queries(), keys(), values()}, {0, 0, 0, 0, three, 0}, 1);
  model.attribute("softcap", 0.5).attribute("qk_matmul_output_mode", 1);
  expect_near(model, {queries(), keys(), values()}, {0, 0, 0, 0, 0.5 * std::tanh(three / 0.5), 0}, 1);
}

TEST(OnnxAttention, NamesWhatItCannotTake) {
  OnnxModel other;
  other.operator_set(23).input("q", {1, 3, 2, 1}).input("k", {1, 2, 3, 1}).input("v", {1, 2, 3, 1});
  other.node("n", "Attention", {"q", "k", "v"}, "y").output("y");
  EXPECT_EQ(import_error(other),
            "node 'n' (Attention): its queries [1,3,2,1], keys [1,2,3,1] and values [1,2,3,1] do not fit "
            "together");
}

}  // namespace
}  // namespace lathe
