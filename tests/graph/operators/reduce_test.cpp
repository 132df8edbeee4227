// Reductions and softmax: the reference against formulas, and the network against the
// reference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "graph/network_runner.h"
#include "graph/onnx/import.h"
#include "graph/onnx/models.h"
#include "graph/reference.h"
#include "graph/simplify.h"

namespace lathe {
namespace {

using ::testing::DoubleNear;
using ::testing::Pointwise;

// A model of one node `n` that reads x of this shape and gives y.
OnnxModel model_of(const Shape& shape, const char* type, const std::vector<std::string>& inputs = {"x"}) {
  OnnxModel model;
  model.input("x", shape).node("n", type, inputs, "y").output("y");
  return model;
}

Values signed_values() { return {{2, 3}, {-1, 2, -3, 4, -5, 6}}; }

TEST(Reduce, CombinesEveryRowByItsFunction) {
  const std::vector<std::pair<const char*, std::vector<double>>> cases = {
      {"ReduceMean", {-2.0 / 3, 5.0 / 3}},
      {"ReduceMax", {2, 6}},
      {"ReduceMin", {-3, -5}},
      {"ReduceL1", {6, 15}},
      {"ReduceL2", {std::sqrt(14), std::sqrt(77)}},
      {"ReduceSumSquare", {14, 77}},
      {"ReduceProd", {6, -120}}};
  for (const auto& [type, expected] : cases) {
    SCOPED_TRACE(type);
    const Values kept = run_network(model_of({2, 3}, type).attribute("axes", {-1}), {signed_values()});
    EXPECT_EQ(kept.shape, (Shape{2, 1}));
    EXPECT_THAT(kept.data, Pointwise(DoubleNear(1e-12), expected));
    OnnxModel dropping = model_of({2, 3}, type).attribute("axes", {1}).attribute("keepdims", 0);
    EXPECT_EQ(run_network(dropping, {signed_values()}).shape, (Shape{2}));
  }
}

TEST(Reduce, TakesItsAxesFromAConstantOrAllOfThem) {
  OnnxModel some = model_of({2, 3, 2}, "ReduceSum", {"x", "axes"}).integers("axes", {2, 0});
  EXPECT_EQ(run_network(some, {numbered({2, 3, 2})}).data, (std::vector<double>{18, 26, 34}));
  EXPECT_EQ(run_network(some, {numbered({2, 3, 2})}).shape, (Shape{1, 3, 1}));
  OnnxModel all = model_of({2, 3}, "ReduceSum").attribute("keepdims", 0);
  EXPECT_EQ(run_network(all, {numbered({2, 3})}).data, (std::vector<double>{21}));
  EXPECT_EQ(run_network(all, {numbered({2, 3})}).shape, Shape{});
  OnnxModel empty = model_of({2, 3}, "ReduceSum", {"x", "axes"}).integers("axes", std::vector<int64_t>{});
  EXPECT_EQ(run_network(empty, {numbered({2, 3})}).data, (std::vector<double>{21}));
}

TEST(Reduce, TakesEachElementForItselfWhereNoAxesMeanNone) {
  const std::vector<std::pair<const char*, std::vector<double>>> cases = {
      {"ReduceSum", {-1, 2, -3, 4, -5, 6}}, {"ReduceMean", {-1, 2, -3, 4, -5, 6}},
      {"ReduceMax", {-1, 2, -3, 4, -5, 6}}, {"ReduceL1", {1, 2, 3, 4, 5, 6}},
      {"ReduceL2", {1, 2, 3, 4, 5, 6}},     {"ReduceSumSquare", {1, 4, 9, 16, 25, 36}},
      {"ReduceProd", {-1, 2, -3, 4, -5, 6}}};
  for (const auto& [type, expected] : cases) {
    SCOPED_TRACE(type);
    OnnxModel model = model_of({2, 3}, type).attribute("noop_with_empty_axes", 1).operator_set(18);
    EXPECT_EQ(run_network(model, {signed_values()}).data, expected);
  }
}

TEST(Reduce, TakesLogarithmsOfSums) {
  const Values x{{2, 2}, {1, 3, 0.5, 0.25}};
  const OnnxModel sums = model_of({2, 2}, "ReduceLogSum").attribute("axes", {1});
  EXPECT_THAT(run_network(sums, {x}).data,
              Pointwise(DoubleNear(1e-12), std::vector<double>{std::log(4), std::log(0.75)}));
  OnnxModel exponentials = model_of({2, 2}, "ReduceLogSumExp", {"x", "axes"}).integers("axes", {-1});
  exponentials.operator_set(18).attribute("keepdims", 0);
  const Values y = run_network(exponentials, {x});
  EXPECT_EQ(y.shape, Shape{2});
  EXPECT_THAT(y.data, Pointwise(DoubleNear(1e-12), std::vector<double>{3 + std::log(1 + std::exp(-2)),
                                                                       0.5 + std::log(1 + std::exp(-0.25))}));
  OnnxModel none = model_of({2, 2}, "ReduceLogSum").operator_set(18).attribute("noop_with_empty_axes", 1);
  EXPECT_THAT(
      run_network(none, {x}).data,
      Pointwise(DoubleNear(1e-12), std::vector<double>{0, std::log(3), std::log(0.5), std::log(0.25)}));
  none = model_of({2, 2}, "ReduceLogSumExp").operator_set(18).attribute("noop_with_empty_axes", 1);
  EXPECT_EQ(run_network(none, {x}).data, x.data);
}

// The values of both the reference and the interpreted network, which must be the same bit by bit.
std::vector<double> same_of_both(const OnnxModel& model, const Values& x) {
  const Graph graph = import_onnx_bytes(model.bytes(), "m.onnx").value();
  const std::vector<double> expected = evaluate_graph(graph, std::vector<Values>{x}).value()[0].data;
  const std::vector<double> actual = run_partition(graph, partition(graph).value(), {x})[0].data;
  EXPECT_EQ(actual, expected);
  return actual;
}

// Exponentials of 1,000 overflow, of -1,000 vanish; of infinities no difference is taken.
TEST(Reduce, LogSumExpOverflowsOnlyWhereItsResultDoes) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const OnnxModel model = model_of({6, 2}, "ReduceLogSumExp").attribute("axes", {1}).attribute("keepdims", 0);
  const Values x{{6, 2},
                 {1000, -1000, -1000, -3000, kInfinity, 1, -kInfinity, 7, -kInfinity, -kInfinity, kInfinity,
                  -kInfinity}};
  EXPECT_EQ(same_of_both(model, x), (std::vector<double>{1000, -1000, kInfinity, 7, -kInfinity, kInfinity}));
}

TEST(Reduce, KeepsNanOfConstants) {
  for (const char* type : {"ReduceMax", "ReduceMin", "GlobalMaxPool"}) {
    OnnxModel model;
    model.input("x", {1, 1, 1}).initializer("c", {1, 1, 3}, {1, NAN, 3}).node("n", type, {"c"}, "r");
    model.node("sum", "Add", {"x", "r"}, "y").output("y");
    const Result<Graph> graph = import_onnx_bytes(model.bytes(), "m.onnx");
    ASSERT_TRUE(graph) << graph.error().to_string();
    const std::vector<Values> zero{{{1, 1, 1}, {0}}};
    EXPECT_TRUE(std::isnan(evaluate_graph(*graph, zero)->front().data.at(0))) << type;
    EXPECT_TRUE(std::isnan(evaluate_graph(simplify(*graph), zero)->front().data.at(0))) << type;
  }
}

// Products that a double does not hold, of constants that are folded.
TEST(Reduce, FoldsIntegersThatWrapAround) {
  const auto folded = [](const char* type) {
    OnnxModel model;
    onnx::TensorProto& tensor = *model.proto.mutable_graph()->add_initializer();
    tensor.set_name("k");
    tensor.set_data_type(onnx::TensorProto_DataType_INT32);
    tensor.add_dims(3);
    for (const int32_t value : {2147483647, 2147483645, 2147483643}) tensor.add_int32_data(value);
    model.input("x", {1}, onnx::TensorProto_DataType_INT32).node("n", type, {"k"}, "p");
    model.attribute("keepdims", 1).node("a", "Add", {"x", "p"}, "y").output("y");
    return run_network(model, {{{1}, {0}, DType::i32}}).data;
  };
  EXPECT_EQ(folded("ReduceProd"), (std::vector<double>{2147483633}));
  EXPECT_EQ(folded("ReduceSumSquare"), (std::vector<double>{35}));
}

TEST(Reduce, TakesIntegersThatWrapAround) {
  const auto reduced = [](const char* type, int dtype, std::vector<double> values) {
    OnnxModel model;
    model.input("x", {2, 2}, dtype).node("n", type, {"x"}, "y").attribute("axes", {1});
    model.operator_set(11).attribute("keepdims", 0).output("y");
    return run_network(model, {{{2, 2}, std::move(values)}}).data;
  };
  using List = std::vector<double>;
  const auto i64 = onnx::TensorProto_DataType_INT64, i32 = onnx::TensorProto_DataType_INT32;
  EXPECT_EQ(reduced("ReduceSum", i64, {3, -5, 7, 9}), (List{-2, 16}));
  EXPECT_EQ(reduced("ReduceMax", i64, {-3, -5, 7, 9}), (List{-3, 9}));
  EXPECT_EQ(reduced("ReduceMin", i32, {3, 5, 7, -9}), (List{3, -9}));
  EXPECT_EQ(reduced("ReduceProd", i32, {3, -5, 65536, 65536}), (List{-15, 0}));
  EXPECT_EQ(reduced("ReduceL1", i32, {3, -5, 0, -1}), (List{8, 1}));
  EXPECT_EQ(reduced("ReduceSumSquare", i64, {3, -5, 0, -1}), (List{34, 1}));
}

TEST(GlobalPool, TakesAllPlacesOfEachChannel) {
  const Values x{{1, 2, 2, 2}, {1, -2, 3, -4, 0, 0, -3, 4}};
  const auto pooled = [&](const OnnxModel& model) { return run_network(model, {x}); };
  EXPECT_EQ(pooled(model_of(x.shape, "GlobalMaxPool")).shape, (Shape{1, 2, 1, 1}));
  EXPECT_EQ(pooled(model_of(x.shape, "GlobalMaxPool")).data, (std::vector<double>{3, 4}));
  EXPECT_EQ(pooled(model_of(x.shape, "GlobalLpPool").attribute("p", 1)).data, (std::vector<double>{10, 7}));
  EXPECT_THAT(pooled(model_of(x.shape, "GlobalLpPool")).data,
              Pointwise(DoubleNear(1e-12), std::vector<double>{std::sqrt(30), 5}));
  EXPECT_EQ(import_error(model_of({2, 2}, "GlobalMaxPool")),
            "node 'n' (GlobalMaxPool): [2,2] is not [N, C, ..]");
}

TEST(Reduce, NamesWhatItCannotTake) {
  EXPECT_EQ(import_error(model_of({2, 3}, "ReduceMean").attribute("axes", {2})),
            "node 'n' (ReduceMean): there is no axis 2 among 2 axes");
  EXPECT_EQ(import_error(model_of({2, 3}, "ReduceMean").attribute("axes", {1, -1})),
            "node 'n' (ReduceMean): axis 1 is named twice");
  OnnxModel integers;
  integers.integers("k", {1, 2}).node("n", "ReduceMean", {"k"}, "y").output("y");
  EXPECT_EQ(import_error(integers),
            "node 'n' (ReduceMean): input 0 is of type i64, and Lathe supports f32 and f64 here");
}

// Softmax, or its logarithm, of each `length` elements in a row.
std::vector<double> softmax_of(const std::vector<double>& x, size_t length, bool logarithm) {
  std::vector<double> result;
  for (size_t i = 0; i < x.size(); ++i) {
    double sum = 0;
    for (size_t j = 0; j < length; ++j) sum += std::exp(x[i / length * length + j] - x[i]);
    result.push_back(logarithm ? -std::log(sum) : 1 / sum);
  }
  return result;
}

TEST(Softmax, IsAlongOneAxisFromOperatorSet13OnAndAlongTheRestBefore) {
  const Values x{{2, 2, 3}, {-7, 3, 0.5, 100, 99, 98, 0, 0, 0, 2, -2, 1}};
  for (const bool logarithm : {false, true}) {
    const char* type = logarithm ? "LogSoftmax" : "Softmax";
    EXPECT_THAT(run_network(model_of(x.shape, type), {x}).data,
                Pointwise(DoubleNear(1e-12), softmax_of(x.data, 3, logarithm)));
    EXPECT_THAT(run_network(model_of(x.shape, type).operator_set(12), {x}).data,
                Pointwise(DoubleNear(1e-12), softmax_of(x.data, 6, logarithm)));
    EXPECT_THAT(run_network(model_of(x.shape, type).operator_set(12).attribute("axis", -1), {x}).data,
                Pointwise(DoubleNear(1e-12), softmax_of(x.data, 3, logarithm)));
  }
  const Values columns{{2, 2}, {1, 5, 3, 2}};
  const double first = 1 / (1 + std::exp(2)), second = 1 / (1 + std::exp(-3));
  EXPECT_THAT(run_network(model_of({2, 2}, "Softmax").attribute("axis", 0), {columns}).data,
              Pointwise(DoubleNear(1e-12), std::vector<double>{first, second, 1 - first, 1 - second}));
  EXPECT_EQ(import_error(model_of({2, 2}, "Softmax").attribute("axis", 2)),
            "node 'n' (Softmax): there is no axis 2 among 2 axes");
}

// A masked score leaves no subnormal number, which would slow all that is multiplied by it.
TEST(Softmax, SharesBelowAllNormalNumbersAreZero) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Values x{{3, 4}, {0, -100, -88, -85, 1, -infinity, 1, -86, 0, std::nan(""), -100, 0}};
  const std::vector<double> shares = run_network(model_of(x.shape, "Softmax"), {x}).data;
  EXPECT_EQ(shares[0], 1);
  EXPECT_EQ(shares[1], 0);
  EXPECT_EQ(shares[2], 0);
  EXPECT_NEAR(shares[3] / std::exp(-85.0), 1, 1e-5);
  EXPECT_EQ(shares[5], 0);
  EXPECT_EQ(shares[7], 0) << "half of exp(-87) is subnormal";
  for (size_t i = 8; i < 12; ++i) EXPECT_TRUE(std::isnan(shares[i]));
  const std::vector<double> logarithms = run_network(model_of(x.shape, "LogSoftmax"), {x}).data;
  EXPECT_EQ(logarithms[1], -100) << "only shares vanish";
  const Values hidden{{1, 2}, {-infinity, -infinity}};
  EXPECT_TRUE(std::isnan(run_network(model_of(hidden.shape, "Softmax"), {hidden}).data[0]));
}

}  // namespace
}  // namespace lathe
