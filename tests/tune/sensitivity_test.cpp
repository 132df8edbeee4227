// How far elements hang on roundings: not at all in ordinary sums, without a bound beside a pole.
#include "tune/sensitivity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "loop/evaluate.h"
#include "lower/programs.h"
#include "tune/draw_data.h"
#include "tune/in_process_runner.h"

namespace lathe::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// All elements of the Dag's output, with the slack that the neighbours of signed inputs tell.
Reference with_slack(const Dag& dag, double tolerance = 0) {
  Rng rng(3);
  std::vector<HostTensor> inputs;
  for (const Tensor& input : dag.inputs) inputs.push_back(random_within(input, rng, {0, 1}));
  Reference reference{dag.outputs[0], {}, evaluate(dag, inputs).value()[0].values};
  for (int number = 0; number < kFloatNeighbours; ++number)
    add_neighbour(reference, evaluate(dag, neighbours_of(dag, inputs, number)).value()[0].values);
  finish_slack(dag, reference, tolerance);
  return reference;
}

TEST(Sensitivity, OrdinarySumsHaveNoSlackBeyondTheTolerance) {
  for (const char* text : {"C[i:60, j:60] = sum(r:7) A[i, r] * B[r, j]",
                           "C[i:60, j:60] = sum(r:300) A[i, r] * B[r, j]", "C[i:3000] = max(A[i], 0.0)"}) {
    const Reference reference = with_slack(task_of(text).dag);
    EXPECT_EQ(std::ranges::count(reference.slack, 0.0), std::ssize(reference.expected)) << text;
    EXPECT_FALSE(hangs_on_rounding(reference)) << text;
    const Reference within = with_slack(task_of(text).dag, 1e-7);
    EXPECT_LE(std::ranges::max(within.slack), 1e-7 * largest_magnitude(DType::f32, within.expected)) << text;
  }
}

TEST(Sensitivity, FewElementsAreBesideAPoleOrAStep) {
  for (const char* text : {"C[i:60, j:60] = 1.0 / (A[i, j] - B[i, j])", "C[i:3000] = floor(A[i] * 3000.0)"}) {
    const Reference reference = with_slack(task_of(text).dag);
    const auto loose = std::ranges::count_if(reference.slack, [](double slack) { return slack != 0; });
    EXPECT_GT(loose, 0) << text;
    EXPECT_LT(loose, 600) << text;
    EXPECT_FALSE(hangs_on_rounding(reference)) << text;
  }
}

TEST(Sensitivity, OutputsOfMostlyNoiseCannotBeCompared) {
  EXPECT_TRUE(hangs_on_rounding(with_slack(task_of("C[i:3000] = floor(A[i] * 1e12) - A[i] * 1e12").dag)));
}

TEST(Sensitivity, WhatIsNoNumberOrInfiniteBesideMayBeAnything) {
  Reference reference{Tensor("C", {5}, DType::f32), {}, {1, 1, -kInfinity, kInfinity, 1}};
  add_neighbour(reference, std::vector<double>{1, NAN, -18, kInfinity, 1});
  add_neighbour(reference, std::vector<double>{1, 1, -kInfinity, kInfinity, kInfinity});
  finish_slack(task_of("C[i:5] = 1.0 / A[i]").dag, reference, 1e-6);
  EXPECT_EQ(reference.slack[0], 0);
  EXPECT_EQ(reference.slack[1], kInfinity);
  EXPECT_EQ(reference.slack[2], kInfinity);
  EXPECT_EQ(reference.slack[3], 0);
  EXPECT_EQ(reference.slack[4], kInfinity);
}

TEST(Sensitivity, PolesAndJumpsAreSeenInTheDag) {
  EXPECT_TRUE(has_poles(task_of("C[i:5] = 1.0 / A[i]").dag));
  EXPECT_TRUE(has_poles(task_of("C[i:5] = log(A[i])").dag));
  EXPECT_FALSE(has_poles(task_of("C[i:5] = A[i] / 3.0").dag));
  EXPECT_TRUE(has_jumps(task_of("C[i:5] = floor(A[i])").dag));
  EXPECT_FALSE(has_jumps(task_of("C[i:5] = select(A[i] < 0.0, 1.0, 2.0)").dag));
  const Dag quotient = task_of("S[i:5] = A[i] * B[i]\nC[i:5] = D[i] / (S[i] + 1.0)").dag;
  const std::vector<bool> beneath = inputs_beneath_poles(quotient);
  for (size_t i = 0; i < quotient.inputs.size(); ++i)
    EXPECT_EQ(beneath[i], quotient.inputs[i]->name != "D") << quotient.inputs[i]->name;
}

}  // namespace
}  // namespace lathe::testing
