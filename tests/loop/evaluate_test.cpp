#include "loop/evaluate.h"

#include "loop/samples.h"

namespace lathe {
namespace {

using namespace loop_testing;  // NOLINT

Dag dag_of(const std::string& text) {
  const Result<Dag> dag = parse_dag(text);
  EXPECT_TRUE(dag.has_value()) << dag.error().to_string();
  return dag ? *dag : Dag();
}

std::vector<HostTensor> inputs_of(const Dag& dag, int64_t limit = 4) {
  Rng rng(11);
  std::vector<HostTensor> inputs;
  for (const Tensor& input : dag.inputs) inputs.push_back(random_like(input, rng, limit));
  return inputs;
}

// Every element by itself, all at once, and by the interpreter's naive program agree.
void expect_agreement(const std::string& text, double tolerance = 1e-5) {
  const Task task = task_of(text);
  const std::vector<HostTensor> inputs = inputs_of(task.dag);
  const Result<Interpretation> naive = interpret(naive_program(task), inputs);
  ASSERT_TRUE(naive.has_value()) << naive.error().to_string();
  const Result<std::vector<HostTensor>> whole = evaluate(task.dag, inputs);
  ASSERT_TRUE(whole.has_value()) << whole.error().to_string();
  Result<ElementEvaluator> evaluator = ElementEvaluator::create(task.dag, inputs);
  ASSERT_TRUE(evaluator.has_value()) << evaluator.error().to_string();
  for (size_t t = 0; t < task.dag.outputs.size(); ++t) {
    const std::vector<double>& expected = naive->outputs[t].values;
    for (size_t i = 0; i < expected.size(); ++i) {
      const double bound = tolerance * std::max(1.0, std::abs(expected[i]));
      EXPECT_NEAR((*whole)[t].values[i], expected[i], bound) << text << " at " << i;
      EXPECT_NEAR(evaluator->at(task.dag.outputs[t], static_cast<int64_t>(i)), expected[i], bound) << i;
    }
  }
}

TEST(Evaluate, AgreesWithTheInterpreter) {
  expect_agreement("input A[7, 600]\ninput B[600, 5]\nC[i:7, j:5] = sum(r:600) A[i, r] * B[r, j]");
  expect_agreement(
      "input I[3, 6, 6]\ninput W[4, 3, 3, 3]\n"
      "P[c:3, y:8, x:8] = select(y >= 1 && y < 7 && x >= 1 && x < 7, I[c, y - 1, x - 1], 0.0)\n"
      "T[o:4, y:6, x:6] = sum(c:3, a:3, b:3) P[c, y + a, x + b] * W[o, c, a, b]\n"
      "O[o:4, y:6, x:6] = max(T[o, y, x] + I[o / 2, y, x], 0.0)");
  expect_agreement(
      "input X[4, 9]\nM[i:4] = max(j:9) X[i, j]\nE[i:4, j:9] = exp(X[i, j] - M[i])\n"
      "S[i:4] = sum(j:9) E[i, j]\nY[i:4, j:9] = E[i, j] / S[i]");
  expect_agreement("input X[24]\nY[i:6] = min(j:4) X[4 * ((i * 5) % 6) + (j + i) % 4]");
  expect_agreement("input X[5, 3]\ninput At[4] i32\nY[i:4, j:3] = X[At[i], j] + f32(At[i] * 3 % 4)");
  expect_agreement(
      "input X[4]\ntable G[2, 4] = {0.5, 1.0, -1.0, 2.0, 3.0, 0.0, 1.0, 1.0}\n"
      "Y[i:2] = sum(j:4) G[i, j] * X[j]");
  expect_agreement("input X[600]\nY[] = sum(j:600) X[j] * X[j]\nZ[] = sqrt(Y[])");
}

// A chain longer than what is computed in place, with two reads a step: kept, not computed 2^40 times.
TEST(Evaluate, LongChainsAreKept) {
  std::string text = "input X[3]\nT0[i:3] = X[i] * 0.5 + X[i] * 0.5\n";
  for (int k = 1; k < 40; ++k) {
    text += fmt::format("T{}[i:3] = T{}[i] * 0.5 + T{}[i] * 0.5\n", k, k - 1, k - 1);
  }
  const Dag dag = dag_of(text);
  const std::vector<HostTensor> inputs = inputs_of(dag);
  EXPECT_EQ((*evaluate(dag, inputs))[0].values, inputs[0].values);
}

// Each element of the last reads 41^4 elements of A, were all computed where they are read.
TEST(Evaluate, ChainsThatFanOutAreKept) {
  std::string text;
  for (int level = 0; level < 4; ++level) {
    std::string sum;
    for (int q = 0; q < 41; ++q)
      sum += fmt::format("{}{}[i + {}]", q == 0 ? "" : " + ",
                         level == 0 ? "A" : fmt::format("T{}", level - 1), q);
    text += fmt::format("T{}[i:{}] = {}\n", level, 9 + (3 - level) * 40, sum);
  }
  const Dag dag = dag_of(text);
  std::vector<HostTensor> inputs = inputs_of(dag);
  for (double& value : inputs[0].values) value = 0.5;
  const auto all = evaluate(dag, inputs, {});
  ASSERT_TRUE(all);
  EXPECT_EQ((*all)[0].values, std::vector<double>(9, 0.5 * 41 * 41 * 41 * 41));
}

TEST(Evaluate, SumsInDouble) {
  const Dag dag = dag_of("input X[1000]\nY[i:1] = sum(j:1000) X[j + i]");
  const std::vector<HostTensor> inputs = {{DType::f32, {1000}, std::vector<double>(1000, 0.1)}};
  EXPECT_NEAR((*evaluate(dag, inputs))[0].values[0], 1000 * static_cast<double>(0.1F), 1e-10);
}

// As the machine's sums of integers do.
TEST(Evaluate, SumsOfIntegersWrapAround) {
  expect_agreement("input A[3, 600] i8\nS[i:3] = sum(j:600) A[i, j]\nY[i:3] = f32(S[i])\noutput S\noutput Y");
  expect_agreement("input A[2, 90, 200] i8\nS[i:2, k:200] = sum(j:90) A[i, j, k]");
}

TEST(Evaluate, InputsAreChecked) {
  const Dag dag = dag_of("input X[4]\nY[i:4] = X[i]");
  EXPECT_EQ(ElementEvaluator::create(dag, {}).error().message, "there are 0 inputs for a Dag that takes 1");
  const std::vector<HostTensor> wrong = {{DType::f32, {2, 2}, {0, 0, 0, 0}}};
  EXPECT_EQ(evaluate(dag, wrong).error().message, "X takes f32 [4], the input is f32 [2, 2]");
}

// Each of C's elements consists of all of T, and each of T's of all of A; D's rows are computed as rows.
TEST(Evaluate, AnElementThatConsistsOfAllOthersCanBeStopped) {
  const Dag dag = dag_of(
      "T[i:3000] = sum(j:3000) i32(A[i] < A[j])\nC[k:9] = sum(r:3000) T[r] * i32(k)\n"
      "D[k:9, l:300] = sum(r:400) A[r + l] * A[r + k]");
  const std::vector<HostTensor> inputs = inputs_of(dag);
  Result<ElementEvaluator> evaluator = ElementEvaluator::create(dag, inputs);
  ASSERT_TRUE(evaluator) << evaluator.error().to_string();
  int asked = 0;
  const Watch watch{.stop = [&] { return ++asked > 2; }};
  const Result<double> stopped = evaluator->within(dag.outputs[0], 1, watch);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().kind, ErrorKind::timeout);
  EXPECT_EQ(stopped.error().message, "there is no time left to evaluate C");
  EXPECT_EQ(asked, 3) << "in the midst of it";
  for (const Tensor& output : dag.outputs) {
    asked = 0;
    ASSERT_FALSE(evaluator->all(output, watch));
    EXPECT_EQ(asked, 3) << output->name;
  }
  const Result<double> whole = evaluator->within(dag.outputs[0], 1, {});
  ASSERT_TRUE(whole);
  EXPECT_EQ(*whole, 3000.0 * 2999 / 2) << "nothing is left of what was given up";
  const auto all = evaluate(dag, inputs, {});
  ASSERT_TRUE(all);
  EXPECT_EQ(evaluator->all(dag.outputs[1])->values, (*all)[1].values);
}

// Of all inputs 30: what the formula comes to.
Excess excess_of(const std::string& text) {
  const Dag dag = dag_of(text);
  std::vector<HostTensor> inputs;
  for (const Tensor& input : dag.inputs) {
    inputs.push_back(zeros_like(input));
    std::ranges::fill(inputs.back().values, 30);
  }
  Result<ElementEvaluator> evaluator = ElementEvaluator::create(dag, inputs);
  EXPECT_TRUE(evaluator) << evaluator.error().to_string();
  evaluator->at(dag.outputs.front(), 0);
  return evaluator->excess();
}

TEST(Evaluate, SaysWhereAValueOnTheWayGoesTooFar) {
  EXPECT_FALSE(excess_of("Y[i:4] = exp(X[i])").of_floats);
  EXPECT_TRUE(excess_of("Y[i:4] = 1.0 / exp(X[i] * 2.0)").of_floats);
  EXPECT_TRUE(excess_of("E[i:4] = exp(X[i] * 2.0)\nY[i:4] = 1.0 / E[i]").of_floats);
  EXPECT_TRUE(excess_of("S[i:4] = sum(r:1000) exp(X[i] * 1.4)\nY[i:4] = 1.0 / S[i]").of_floats);
  EXPECT_FALSE(excess_of("input X[4] f64\nY[i:4] = X[i] * 1e30").of_floats) << "its type holds more";
  EXPECT_TRUE(excess_of("input X[4] f64\nY[i:4] = f32(X[i] * 1e30)").of_floats);
  // What a formula masks with is meant.
  EXPECT_FALSE(excess_of("Y[i:4] = select(i < 2, -1e30, X[i]) - X[i]").of_floats);
}

TEST(Evaluate, SaysWhereIntegersGoTooFar) {
  EXPECT_FALSE(excess_of("Y[i:4] = i8(X[i])").saturated);
  EXPECT_TRUE(excess_of("Y[i:4] = i8(X[i] * 5.0)").saturated);
  EXPECT_FALSE(excess_of("Y[i:4] = i8(X[i] * 5.0)").of_integers)
      << "saturated, it is one that a double holds";
  EXPECT_TRUE(excess_of("Y[i:4] = i64(X[i] * 1e17) * 100").of_integers);
  EXPECT_FALSE(excess_of("input X[4] i32\nY[i:4] = i8(X[i] * 5)").saturated) << "it wraps around anywhere";
}

}  // namespace
}  // namespace lathe
