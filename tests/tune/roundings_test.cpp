#include "tune/roundings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "expr/parse.h"
#include "loop/evaluate.h"

namespace lathe {
namespace {

// How much larger each element of the only output comes out than without roundings.
std::vector<double> motions(const std::string& text, int number) {
  const Dag dag = parse_dag(text).value();
  const Dag rounded = with_roundings(dag, number);
  EXPECT_TRUE(verify(rounded));
  Rng rng(5);
  std::vector<HostTensor> inputs;
  for (const Tensor& input : dag.inputs) inputs.push_back(random_within(input, rng, {0, 1}));
  const std::vector<double> exact = evaluate(dag, inputs).value()[0].values;
  std::vector<double> found = evaluate(rounded, inputs).value()[0].values;
  for (size_t i = 0; i < found.size(); ++i) found[i] -= exact[i];
  return found;
}

double largest(const std::vector<double>& values) {
  double found = 0;
  for (const double value : values) found = std::max(found, std::abs(value));
  return found;
}

constexpr double kRounding = 0x1p-23;

TEST(Roundings, AreOfTheSizeOfWhatIsRounded) {
  const double one = largest(motions("C[i:500] = A[i] * 3.0", 0));
  EXPECT_GT(one, kRounding);
  EXPECT_LT(one, 3.01 * kRounding);
  const double cancelled = largest(motions("C[i:500] = (A[i] + 1000.0) - 1000.0", 0));
  EXPECT_GT(cancelled, 999 * kRounding);
  EXPECT_LT(cancelled, 1003 * kRounding);
  EXPECT_LT(largest(motions("input A[500] f64\nC[i:500] = (A[i] + 1000.0) - 1000.0", 0)), 1e-12);
}

TEST(Roundings, DoNotCancelWhereTermsDo) {
  const std::vector<double> moved = motions("O[i:50] = sum(r:40) A[i, r] - A[i, 39 - r]", 2);
  EXPECT_EQ(std::ranges::count(moved, 0.0), 0);
  EXPECT_LT(largest(moved), 80 * kRounding);
}

TEST(Roundings, WhatIsExactStaysSo) {
  for (const char* text :
       {"M[j:64] = select(j < 60, 1.0, 0.0)\nO[i:8, j:64] = select(j < 60, (1.0 - M[j]) * -1e9, 0.0)",
        "O[i:500] = max(-A[i], 0.0)", "O[i:500] = f32(i32(A[i]) * 3)", "O[i:50] = max(r:9) A[i, r]"})
    EXPECT_EQ(largest(motions(text, 1)), 0) << text;
}

TEST(Roundings, OfAPairAreOppositeAndOfOthersNot) {
  const std::string text = "C[i:500] = A[i] * 3.0";
  const std::vector<double> first = motions(text, 4);
  const std::vector<double> second = motions(text, 5);
  const std::vector<double> other = motions(text, 6);
  int same = 0;
  for (size_t i = 0; i < first.size(); ++i) {
    EXPECT_LE(first[i] * second[i], 0);
    same += first[i] * other[i] > 0 ? 1 : 0;
  }
  EXPECT_GT(same, 100);
  EXPECT_LT(same, 400);
}

}  // namespace
}  // namespace lathe
