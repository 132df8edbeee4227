// Elements, rows and whole tensors of a Dag: by each way the same, and large tensors a few elements at a
// time.
#include "loop/evaluator/dag_evaluator.h"

#include <gtest/gtest.h>

#include "expr/parse.h"
#include "loop/evaluator/too_far.h"

namespace lathe::evaluator {
namespace {

Dag dag_read(const std::string& text) {
  const Result<Dag> dag = parse_dag(text);
  EXPECT_TRUE(dag) << dag.error().to_string();
  return dag ? *dag : Dag();
}

std::vector<HostTensor> drawn_for(const Dag& dag, uint64_t seed) {
  Rng rng(seed);
  std::vector<HostTensor> inputs;
  for (const Tensor& input : dag.inputs) inputs.push_back(random_like(input, rng, 100));
  return inputs;
}

// Every element of the last compute by itself, backwards, so that none is at hand already.
std::vector<double> one_by_one(const Dag& dag, const std::vector<HostTensor>& inputs) {
  DagEvaluator evaluator(dag, inputs);
  const Tensor& output = dag.computes.back().output;
  std::vector<double> values(static_cast<size_t>(output.elements()));
  for (size_t i = values.size(); i-- > 0;)
    values[i] = evaluator.element(evaluator.source_of(output), static_cast<int64_t>(i));
  return values;
}

// Rows longer than the lanes, reductions longer than rows and shorter, both longer than the lanes.
TEST(DagEvaluatorRows, AreTheElements) {
  for (const char* text :
       {"O[i:3, j:1300] = A[i, j] * 2.0 + B[j]", "O[j:1300] = sum(r:3) A[r, j]",
        "O[i:3] = sum(r:1300) A[i, r]", "O[i:2, j:200] = max(r:700) A[i, r] * B[j]",
        "O[i:5, j:4] = min(r:2, s:3) A[i + r, j + s]", "O[i:2, j:513, k:1] = A[j, i + k] - B[j]",
        "T[i:600] = A[i] + 1.0\nO[i:2, j:600] = T[j] * B[i]",
        "S[i:700] = sum(r:2) A[i, r]\nO[j:2, i:700] = S[699 - i] * B[j]"}) {
    const Dag dag = dag_read(text);
    const std::vector<HostTensor> inputs = drawn_for(dag, 4);
    DagEvaluator evaluator(dag, inputs);
    const HostTensor all = evaluator.all(dag.computes.back().output);
    const std::vector<double> each = one_by_one(dag, inputs);
    ASSERT_EQ(all.values.size(), each.size());
    for (size_t i = 0; i < each.size(); ++i) ASSERT_NEAR(all.values[i], each[i], 1e-9) << text << " at " << i;
  }
}

TEST(DagEvaluatorRows, OfASingleElement) {
  const Dag dag = dag_read("input x[] S[] = sum(r:1300) A[r] * x[]");
  const std::vector<HostTensor> inputs{{DType::f32, {}, {2}},
                                       {DType::f32, {1300}, std::vector<double>(1300, 3)}};
  DagEvaluator evaluator(dag, inputs);
  EXPECT_EQ(evaluator.all(dag.outputs[0]).values, std::vector<double>{7800});
  EXPECT_EQ(evaluator.element(evaluator.source_of(dag.outputs[0]), 0), 7800);
}

TEST(DagEvaluatorInputs, AreRoundedToTheirTypes) {
  const Dag dag = dag_read("input A[2] f16 input B[2] i8 O[i:2] = f32(A[i]) + f32(B[i])");
  const std::vector<HostTensor> inputs{{DType::f16, {2}, {2049, 0.1}}, {DType::i8, {2}, {3.9, 200}}};
  DagEvaluator evaluator(dag, inputs);
  EXPECT_EQ(evaluator.all(dag.inputs[0]).values[0], 2048);
  EXPECT_EQ(evaluator.all(dag.inputs[1]).values, (std::vector<double>{3, -56}));
  EXPECT_EQ(evaluator.all(dag.outputs[0]).values[0], 2051);
}

TEST(DagEvaluatorInputs, TablesAreFoundWhereTheyAreRead) {
  const Dag dag = dag_read("table T[2, 2] = {1, 10, 100, 1000} O[i:2, j:2] = T[j, i] * A[i]");
  const std::vector<HostTensor> inputs{{DType::f32, {2}, {1, 2}}};
  DagEvaluator evaluator(dag, inputs);
  EXPECT_EQ(evaluator.all(dag.outputs[0]).values, (std::vector<double>{1, 100, 20, 2000}));
}

// More elements than are kept as an array: 2^40 of them, and only those that are asked for are computed.
TEST(DagEvaluatorLarge, ElementsAreComputedWhereTheyAreAskedFor) {
  const Dag dag = dag_read(
      "S[i:1048576, j:1048576] = sum(r:2) A[r] * f32(i + r) + f32(j)\n"
      "O[i:1048576, j:1048576] = S[i, j] + S[1048575 - i, j]");
  const std::vector<HostTensor> inputs{{DType::f32, {2}, {1, 2}}};
  DagEvaluator evaluator(dag, inputs);
  const auto at = [&](int64_t i, int64_t j) {
    return evaluator.element(evaluator.source_of(dag.outputs[0]), (i << 20) + j);
  };
  const auto sum = [](int64_t i, int64_t j) { return static_cast<double>(i + 2 * (i + 1) + 2 * j); };
  for (const auto& [i, j] : {std::pair<int64_t, int64_t>{0, 0}, {1048575, 3}, {5, 1048575}})
    EXPECT_EQ(at(i, j), sum(i, j) + sum(1048575 - i, j));
  EXPECT_EQ(evaluator.source_of(dag.computes[0].output).sparse.size(), 6U);
  EXPECT_TRUE(evaluator.source_of(dag.computes[0].output).elements.empty());
}

// A reduction is kept: a second reader finds it.
TEST(DagEvaluatorKept, ReductionsAreComputedOnce) {
  const Dag dag = dag_read("S[i:4] = sum(r:3) A[i, r]\nO[i:4, j:4] = S[i] + S[j]");
  const std::vector<HostTensor> inputs = drawn_for(dag, 6);
  DagEvaluator evaluator(dag, inputs);
  evaluator.element(evaluator.source_of(dag.outputs[0]), 6);  // i = 1, j = 2
  const Source& sums = evaluator.source_of(dag.computes[0].output);
  EXPECT_EQ(sums.known, (std::vector<bool>{false, true, true, false}));
}

TEST(DagEvaluatorExcess, SumsGoTooFarAndChoicesDoNot) {
  const auto excess = [](const std::string& text, double value) {
    const Dag dag = dag_read(text);
    std::vector<HostTensor> inputs{zeros_like(dag.inputs[0])};
    std::ranges::fill(inputs[0].values, value);
    DagEvaluator evaluator(dag, inputs);
    evaluator.all(dag.outputs[0]);
    return evaluator.excess();
  };
  EXPECT_FALSE(excess("S[] = sum(r:4) A[r]", 0x1p60).of_floats);
  EXPECT_TRUE(excess("S[] = sum(r:16) A[r]", 0x1p60).of_floats);
  EXPECT_FALSE(excess("S[] = max(r:16) A[r]", 0x1p70).of_floats);
  EXPECT_TRUE(excess("S[] = product(r:2) A[r]", 0x1p40).of_floats);
  EXPECT_TRUE(excess("input A[4] i64 S[] = sum(r:4) A[r]", 0x1p52).of_integers);
  EXPECT_FALSE(excess("input A[4] i64 S[] = max(r:4) A[r]", 0x1p52).of_integers);
}

TEST(TooFar, IsWhereASquareOrANeighbourIsLost) {
  EXPECT_EQ(too_far(DType::f32), 0x1p64);
  EXPECT_EQ(too_far(DType::f64), 0x1p512);
  EXPECT_EQ(too_far(DType::f16), 0x1p8);
  EXPECT_EQ(too_far(DType::i64), 0x1p53);
  EXPECT_TRUE(goes_too_far(DType::f32, -0x1p64));
  EXPECT_FALSE(goes_too_far(DType::f32, std::nan("")));
  EXPECT_TRUE(is_outside(DType::i8, 128));
  EXPECT_FALSE(is_outside(DType::i8, 127.9));
  EXPECT_FALSE(is_outside(DType::i8, -128.9));
  EXPECT_TRUE(is_outside(DType::u8, -1));
  EXPECT_FALSE(is_outside(DType::boolean, 1e30));
}

}  // namespace
}  // namespace lathe::evaluator
