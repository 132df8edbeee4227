// How far right programs may be apart: naive and scheduled ones in f32 are within the bound, which is not
// much wider than need be.
#include "check/error_bound.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "compile/compile.h"
#include "loop/evaluate.h"
#include "lower/programs.h"
#include "runtime/launch.h"
#include "space/all.h"
#include "target/all.h"
#include "target/detect.h"

namespace lathe::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<HostTensor> random_inputs(const Dag& dag) {
  Rng rng(3);
  std::vector<HostTensor> inputs;
  for (const Tensor& input : dag.inputs) inputs.push_back(random_within(input, rng, {0, 9}));
  return inputs;
}

std::vector<Approximate> bounds_of(const Dag& dag, const std::vector<HostTensor>& inputs) {
  ErrorBound bound(dag, inputs);
  std::vector<Approximate> elements;
  for (int64_t i = 0; i < dag.outputs[0].elements(); ++i) elements.push_back(bound.at(dag.outputs[0], i));
  return elements;
}

std::vector<Approximate> bounds_of(const std::string& text) {
  const Dag dag = task_of(text).dag;
  return bounds_of(dag, random_inputs(dag));
}

// The f32 output of a program over row-major inputs.
std::vector<float> run(const Task& task, const Trace& trace, const std::vector<HostTensor>& inputs) {
  const Result<Module> module = compile(task, trace);
  EXPECT_TRUE(module) << module.error().to_string();
  Result<Instance> instance = Instance::create(*module);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::vector<float> values(inputs[i].values.begin(), inputs[i].values.end());
    std::memcpy(instance->buffer(i).data(), values.data(), values.size() * sizeof(float));
  }
  EXPECT_TRUE(instance->prepare() && instance->run());
  std::vector<float> output(static_cast<size_t>(task.dag.outputs[0].elements()));
  std::memcpy(output.data(), instance->buffer(inputs.size()).data(), output.size() * sizeof(float));
  return output;
}

class Formulas : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(
    ErrorBound, Formulas,
    ::testing::Values(
        "C[i:60, j:60] = sum(r:700) A[i, r] * B[r, j]", "C[i:60] = sum(r:3000) A[i, r] + 5.0",
        "C[i:60, j:60] = 1.0 / (A[i, j] - B[i, j])", "C[i:3000] = floor(A[i] * 3000.0)",
        // The exponential of a long sum: two units in the last place of T are many of E.
        "T[i:64] = sum(r:248) A[i, r] * A[i, r]\nC[i:64] = exp(0.0 - T[i])",
        "C[i:400] = exp(log(abs(A[i]) + 0.5) * 60.0)",
        "m[i:90] = sum(r:512) A[i, r] + 100.0\nq[i:90] = sum(r:512) (A[i, r] + 100.0) * (A[i, r] + 100.0)\n"
        "C[i:90] = q[i] / 512.0 - (m[i] / 512.0) * (m[i] / 512.0)",
        "S[i:20, j:150] = sum(k:128) A[i, k] * B[k, j]\nM[i:20] = max(j:150) S[i, j]\n"
        "E[i:20, j:150] = exp(S[i, j] - M[i])\nT[i:20] = sum(j:150) E[i, j]\nC[i:20, j:150] = E[i, j] / T[i]",
        "S[i:64, j:64] = sum(k:64) A[i, k] * D[k, j]\nQ[i:64, j:64] = floor(S[i, j] * 127.0)\n"
        "C[i:64, j:64] = sum(r:64) Q[i, r] * B[r, j]",
        "C[i:300] = select(A[i] < B[i], A[i] + 3.0, sqrt(abs(B[i])))",
        "C[i:50] = product(r:20) A[i, r] + 1.0", "C[i:999] = pow(abs(A[i]), B[i] * 4.0)"));

TEST_P(Formulas, EveryProgramIsWithinTheBound) {
  Task task = task_of(GetParam());
  task.target = with_cores(detect_target().value(), 1);
  const std::vector<HostTensor> inputs = random_inputs(task.dag);
  const std::vector<Approximate> elements = bounds_of(task.dag, inputs);
  const Result<Space> space = derive_space(task);
  ASSERT_TRUE(space) << space.error().to_string();
  std::vector<Trace> traces = {{}};
  for (const Point& point : space->preferred_points()) traces.push_back(space->trace(point).value());
  for (const Trace& trace : traces) {
    const std::vector<float> got = run(task, trace, inputs);
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_LE(std::abs(got[i] - elements[i].value), elements[i].error) << i;
  }
  const auto loose = std::ranges::count_if(elements, [](const Approximate& element) {
    return !(element.error <= 0.4 * std::max(std::abs(element.value), 1.0));
  });
  EXPECT_LE(loose, elements.size() / 4) << "the bound says something of most elements";
}

TEST(ErrorBound, ValuesAreThoseOfTheEvaluator) {
  const Dag dag =
      task_of("S[i:9, j:5] = sum(r:7) A[i, r] * B[r, j]\nC[i:9, j:5] = tanh(S[i, j]) - S[8 - i, j]").dag;
  const std::vector<HostTensor> inputs = random_inputs(dag);
  const std::vector<HostTensor> expected = evaluate(dag, inputs).value();
  const std::vector<Approximate> elements = bounds_of(dag, inputs);
  for (size_t i = 0; i < elements.size(); ++i) EXPECT_NEAR(elements[i].value, expected[0].values[i], 1e-12);
}

// Each of C's elements consists of all of T, and each of T's of all of A.
TEST(ErrorBound, AnElementThatConsistsOfAllOthersCanBeStopped) {
  const Dag dag = task_of("T[i:3000] = sum(j:3000) i32(A[i] < A[j])\nC[k:9] = sum(r:3000) T[r] * i32(k)").dag;
  EXPECT_GT(operations_beneath(dag, 1), 3000.0 * 3000);
  EXPECT_LT(operations_beneath(dag, 9), 2 * operations_beneath(dag, 1)) << "T is computed once";
  const std::vector<HostTensor> inputs = random_inputs(dag);
  ErrorBound bound(dag, inputs);
  int asked = 0;
  const Watch watch{.stop = [&] { return ++asked > 3; }};
  const Result<Approximate> stopped = bound.within(dag.outputs[0], 1, watch);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().kind, ErrorKind::timeout);
  EXPECT_EQ(asked, 4);
  const Result<Approximate> whole = bound.within(dag.outputs[0], 1, {});
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->value, 3000.0 * 2999 / 2) << "nothing is left of what was given up";
}

TEST(ErrorBound, IntegersThatARoundingDecidesAreTold) {
  const std::vector<Approximate> elements = bounds_of("C[i:4000] = i32(floor(A[i] * 30000.0))");
  const auto open = std::ranges::count_if(elements, [](const Approximate& e) { return !e.is_exact(); });
  EXPECT_GT(open, 2);
  EXPECT_LT(open, 200);
  for (const Approximate& element : bounds_of("input A[8] i32\nC[i:8] = A[i] * 3"))
    EXPECT_TRUE(element.is_exact());
}

TEST(ErrorBound, WhatIsReadAtAPlaceThatARoundingDecidesMayBeAnything) {
  const std::vector<Approximate> elements =
      bounds_of("input B[50] f32\nP[i:3000] = i32(floor((A[i] + 1.0) * 4000.0))\nC[i:3000] = B[P[i] % 50]");
  EXPECT_TRUE(std::ranges::any_of(elements, [](const Approximate& e) { return e.error == kInfinity; }));
  EXPECT_TRUE(std::ranges::any_of(elements, [](const Approximate& e) { return e.is_exact(); }));
}

// A read beyond the tensor, which no program chooses.
TEST(ErrorBound, APaddedWindowIsANumber) {
  for (const Approximate& element : bounds_of(
           "C[i:12] = sum(r:3) select(1 <= i + r && i + r < 13, A[i + r - 1], 0.0) * B[r] + 0.0 * A[0]")) {
    EXPECT_TRUE(std::isfinite(element.value));
    EXPECT_LT(element.error, 1e-5);
  }
}

TEST(ErrorBound, NarrowFloatsAreOffByTheirOwnRoundings) {
  const std::vector<Approximate> elements = bounds_of("input A[9] f16\nC[i:9] = f16(f32(A[i]) * 3.0)");
  for (const Approximate& element : elements) {
    EXPECT_GE(element.error, 0x1p-11 * std::abs(element.value));
    EXPECT_LE(element.error, 0x1p-9 * std::abs(element.value) + 0x1p-23);
  }
}

TEST(IsSensitive, PolesAndStepsAreSeenInTheDag) {
  EXPECT_TRUE(is_sensitive(task_of("C[i:5] = 1.0 / A[i]").dag));
  EXPECT_TRUE(is_sensitive(task_of("C[i:5] = log(A[i])").dag));
  EXPECT_FALSE(is_sensitive(task_of("C[i:5] = A[i] / 3.0").dag));
  EXPECT_TRUE(is_sensitive(task_of("C[i:5] = floor(A[i])").dag));
  EXPECT_TRUE(is_sensitive(task_of("C[i:5] = A[i] < 0.5").dag));
  EXPECT_FALSE(is_sensitive(task_of("C[i:5] = select(A[i] < 0.0, 1.0, 2.0)").dag));
}

TEST(InputsBeneathPoles, AreThoseOfDivisors) {
  const Dag quotient = task_of("S[i:5] = A[i] * B[i]\nC[i:5] = D[i] / (S[i] + 1.0)").dag;
  const std::vector<bool> beneath = inputs_beneath_poles(quotient);
  for (size_t i = 0; i < quotient.inputs.size(); ++i)
    EXPECT_EQ(beneath[i], quotient.inputs[i]->name != "D") << quotient.inputs[i]->name;
}

}  // namespace
}  // namespace lathe::testing
