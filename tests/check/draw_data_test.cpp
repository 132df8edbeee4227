// What is drawn for a task: the same as ever where that will do, else something that tells right from wrong.
#include "check/draw_data.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <string_view>

#include "check/problem.h"
#include "compile/compile.h"
#include "lower/programs.h"
#include "target/all.h"
#include "target/detect.h"
#include "tune/in_process_runner.h"

namespace lathe::testing {
namespace {

DrawnData drawn_for(const std::string& text) {
  Result<DrawnData> drawn = draw_data(task_of(text).dag, 1, 1500);
  EXPECT_TRUE(drawn) << drawn.error().to_string();
  return std::move(*drawn);
}

double largest_input(const DrawnData& drawn) {
  double largest = 0;
  for (const HostTensor& input : drawn.inputs) {
    for (const double value : input.values) largest = std::max(largest, std::abs(value));
  }
  return largest;
}

TEST(DrawData, AnOrdinaryTaskGetsTheNumbersThatTheSeedGives) {
  for (const char* text : {"C[i:9, j:8] = sum(r:7) A[i, r] * B[r, j]", "C[i:9] = exp(A[i]) / (A[i] + 2.0)",
                           "input A[8] i32\nC[i:8] = f32(A[i])",
                           // What is masked goes far, and none of the inputs is to blame.
                           "S[i:9, j:9] = select(i < j, A[i, j], -1e30)\nM[i:9] = max(j:9) S[i, j]\n"
                           "E[i:9, j:9] = exp(S[i, j] - M[i])"}) {
    const Dag dag = task_of(text).dag;
    const Result<DrawnData> drawn = draw_data(dag, 1, 1500);
    ASSERT_TRUE(drawn) << text << drawn.error().to_string();
    Rng rng(ProblemOptions{}.seed);
    for (size_t i = 0; i < dag.inputs.size(); ++i) {
      const Interval integers{0, INT32_MAX};
      EXPECT_EQ(drawn->inputs[i].values, random_within(dag.inputs[i], rng, integers).values) << text;
    }
  }
}

// The outputs of the task's own program, or of another's, compared in full; empty: all right.
std::string fault_of_program(const std::string& text, const std::string& other = "") {
  Task task = task_of(text);
  task.target = with_cores(detect_target().value(), 1);
  Task compiled = task_of(other.empty() ? text : other);
  compiled.target = task.target;
  const Result<Module> module = compile(compiled, {});
  EXPECT_TRUE(module) << module.error().to_string();
  Result<Problem> problem = Problem::create(task);
  EXPECT_TRUE(problem) << problem.error().to_string();
  if (!module || !problem) return "nothing to compare";
  InProcessRunner runner;
  const Program program = naive_program(task);
  const auto sampled = runner.verify(*module, problem->inputs_for(program, {}));
  EXPECT_TRUE(sampled) << sampled.error().to_string();
  if (*sampled) return (*sampled)->message;
  const Result<FullCheck> check = problem->check_in_full(program, {}, *module, runner);
  EXPECT_TRUE(check) << check.error().to_string();
  EXPECT_TRUE(check->failure || check->largest_difference <= check->tolerance);
  return check->failure ? check->failure->message : "";
}

// Sums that an exponential overflows on, and what follows. (Where headers are precompiled, GCC 12 warns of a
// string's + with a literal.)
std::string of_long_sums(std::string_view text) {
  return fmt::format("S[i:8, j:8] = sum(r:20000) A[i, r] * B[r, j]\n{}", text);
}

TEST(DrawData, InputsShrinkUntilNoOutputOverflows) {
  const std::string text = of_long_sums("C[i:8, j:8] = exp(S[i, j])");
  EXPECT_EQ(fault_of_program(text), "");
  const DrawnData drawn = drawn_for(text);
  EXPECT_LE(largest_input(drawn), 1.0 / 4);
  EXPECT_GT(largest_input(drawn), 1.0 / 17) << "no smaller than need be";
  EXPECT_LT(std::ranges::max(drawn.references[0].expected), 1e19);
  EXPECT_EQ(drawn_for(text).inputs[1].values, drawn.inputs[1].values) << "it follows from the seed";
}

// The quotients are numbers in double, whatever its operands are in f32.
TEST(DrawData, InputsShrinkUntilNothingOnTheWayOverflowsEither) {
  EXPECT_EQ(fault_of_program(of_long_sums("E[i:8, j:8] = exp(S[i, j])\n"
                                          "Z[i:8] = sum(j:8) E[i, j]\n"
                                          "C[i:8, j:8] = E[i, j] / Z[i]")),
            "");
  EXPECT_EQ(fault_of_program(of_long_sums("C[i:8, j:8] = exp(S[i, j]) / (exp(S[i, j]) + 1.0)")), "");
}

TEST(DrawData, WhatAMaskMakesInfiniteIsCompared) {
  EXPECT_EQ(fault_of_program("C[i:40, j:40] = select(i < j, A[i, j], log(0.0 * abs(A[i, j])))"), "");
}

// A logarithm wants them positive, and then the sum is 5000.
TEST(DrawData, PositiveInputsShrinkToo) {
  EXPECT_EQ(fault_of_program("S[i:4] = sum(r:10000) A[i, r]\nC[i:4, r:10000] = exp(S[i]) + log(A[i, r])"),
            "");
}

TEST(DrawData, ProgramsOfEveryTypeAreRightInFull) {
  for (const char* text :
       {"C[i:9] = A[i] < 0.5", "C[i:70, j:60] = A[i, j] < B[j]",
        "input A[40, 50] f64\ninput B[50, 60] f64\nC[i:40, j:60] = sum(r:50) A[i, r] * B[r, j]",
        "C[i:40, j:60] = f64(A[i, j] * B[j])", "input A[40, 50] f64\nC[] = sum(i:40, r:50) A[i, r]",
        "input A[40, 50] i8\ninput B[50, 60] i8\nC[i:40, j:60] = sum(r:50) A[i, r] * B[r, j]",
        "input A[40, 50] i8\ninput B[50, 60] i8\nC[i:40, j:60] = sum(r:50) i32(A[i, r]) * i32(B[r, j])",
        "input A[40, 50] i32\nC[i:40] = sum(r:50) A[i, r]",
        "input A[40, 50] i64\nC[i:40] = sum(r:50) A[i, r]",
        "S[i:40, j:60] = sum(r:500) A[i, r] * B[r, j]\nC[i:40, j:60] = i8(floor(S[i, j] * 4.0))"}) {
    EXPECT_EQ(fault_of_program(text), "") << text;
  }
}

// Beside a pole or a step a right program may be far off; one that is wrong anywhere is found out.
class BesidePolesAndSteps : public ::testing::TestWithParam<const char*> {};

TEST_P(BesidePolesAndSteps, RightProgramsPassAndWrongOnesDoNot) {
  const std::string start = "S[i:300, j:300] = sum(r:20) A[i, r] * B[r, j]\n";
  const std::string text = fmt::format("{}C[i:300, j:300] = ({})", start, GetParam());
  EXPECT_EQ(fault_of_program(text), "");
  EXPECT_NE(fault_of_program(text, fmt::format("{} * 1.01", text)), "");
  for (const int row : {0, 7, 128, 299}) {
    const std::string wrong =
        fmt::format("{}C[i:300, j:300] = select(i == {}, select(j == 77, 1.01, 1.0), 1.0) * ({})", start, row,
                    GetParam());
    EXPECT_NE(fault_of_program(text, wrong), "") << row;
  }
}

INSTANTIATE_TEST_SUITE_P(DrawData, BesidePolesAndSteps,
                         ::testing::Values("S[i, j]", "W[] / (exp(S[i, j]) + V[])",
                                           "sqrt(S[i, j] * S[i, j] + V[])", "D[i, j] / S[i, j]",
                                           "1.0 / (S[i, j] - D[i, j] * 4.0)", "floor(S[i, j] * 90.0)",
                                           "select(S[i, j] < D[i, j], S[i, j] + 3.0, D[i, j] - 2.0)"));

// What is divided keeps its signs where the divisors are drawn positive.
TEST(DrawData, ADividendHasBothSigns) {
  const std::string quotient = "S[i:60, j:60] = sum(r:20) A[i, r] * B[r, j]\nC[i:60, j:60] = {} / S[i, j]";
  const std::string text = fmt::format(fmt::runtime(quotient), "max(D[i, j], 0.0)");
  EXPECT_EQ(fault_of_program(text), "");
  EXPECT_NE(fault_of_program(text, fmt::format(fmt::runtime(quotient), "D[i, j]")), "");
}

TEST(DrawData, OutputsOfMostlyNoiseCannotBeCompared) {
  const Result<DrawnData> drawn =
      draw_data(task_of("C[i:300] = floor(A[i] * 1e12) - A[i] * 1e12").dag, 1, 1500);
  ASSERT_FALSE(drawn);
  EXPECT_EQ(
      drawn.error().message,
      "output 'C' hangs on how the floats that it follows from are rounded: programs cannot be compared");
}

TEST(DrawData, QuantisedProductsAreCompared) {
  const std::string product =
      "S[i:256, r:256] = sum(k:256) A[i, k] * D[k, r]\n"
      "Q[i:256, r:256] = floor(S[i, r] * 127.0)\n"
      "C[i:256, j:256] = sum(r:256) Q[i, r] * {}";
  const std::string text = fmt::format(fmt::runtime(product), "B[r, j]");
  EXPECT_EQ(fault_of_program(text), "");
  EXPECT_NE(fault_of_program(text, fmt::format(fmt::runtime(product), "B[r, j] * 1.01")), "");
}

// Of some million quotients one is a million: it must not make a wrong one elsewhere right.
TEST(DrawData, OneWrongQuotientAmongManyIsFound) {
  for (const char* quotient : {"A[i] / B[i]", "1.0 / B[i]", "select(i < 90000, A[i], -1e30)"}) {
    const std::string text = fmt::format("C[i:200000] = {}", quotient);
    EXPECT_EQ(fault_of_program(text), "") << text;
    EXPECT_NE(
        fault_of_program(text, fmt::format("C[i:200000] = select(i == 77777, 1.01, 1.0) * ({})", quotient)),
        "")
        << text;
  }
}

// Sums that an exponential makes of: where they are large their rounding is a large share of the result.
TEST(DrawData, SoftmaxOfLongSumsIsCompared) {
  const std::string start =
      "S[i:20, j:1500] = sum(k:128) A[i, k] * B[k, j]\n"
      "M[i:20] = max(j:1500) S[i, j]\n"
      "E[i:20, j:1500] = exp(S[i, j] - M[i])\n"
      "T[i:20] = sum(j:1500) E[i, j]\n";
  const std::string text = fmt::format("{}O[i:20, j:1500] = E[i, j] / T[i]", start);
  EXPECT_EQ(fault_of_program(text), "");
  EXPECT_NE(fault_of_program(text, fmt::format("{}O[i:20, j:1500] = E[i, j] / T[i] * 1.01", start)), "");
}

// A power of 60 makes 60 times as much of a rounding.
TEST(DrawData, SteepFunctionsAreCompared) {
  EXPECT_EQ(fault_of_program("C[i:400] = exp(log(abs(A[i]) + 0.5) * 60.0)"), "");
  EXPECT_NE(fault_of_program("C[i:400] = exp(log(abs(A[i]) + 0.5) * 60.0)",
                             "C[i:400] = exp(log(abs(A[i]) + 0.5) * 60.0) * 1.01"),
            "");
}

TEST(DrawData, AScalarBesideTensorsKeepsADivisorFromZero) {
  const DrawnData drawn = drawn_for("C[i:9] = A[i] / (B[i] * B[i] + W[])");
  ASSERT_EQ(drawn.inputs.size(), 3U);
  EXPECT_GE(drawn.inputs[2].values[0], 0.5);
  EXPECT_LE(drawn.inputs[2].values[0], 1.5);
}

// The share of the output's elements that lie within these ends.
double share_within(const std::string& text, double least, double largest) {
  const std::vector<double> elements = drawn_for(text).references[0].expected;
  const auto within =
      std::ranges::count_if(elements, [&](double value) { return least < value && value < largest; });
  return static_cast<double>(within) / static_cast<double>(elements.size());
}

TEST(DrawData, FloatsShrinkToWhatTheIntegersHoldThatTheyBecome) {
  EXPECT_EQ(share_within("input A[800] f64\nC[i:800] = i32(A[i] * 1e30)", -1e9, 1e9), 1);
  // Behind a rectifier half of them are the least one.
  EXPECT_GT(share_within("input A[800, 64] u8\ninput B[64] i8\n"
                         "S[i:800] = sum(k:64) i32(A[i, k]) * i32(B[k])\nC[i:800] = u8(f32(S[i]) * M[i])",
                         0, 255),
            0.25);
  // A part that saturates does no harm, and where nothing else can be had all of it is compared.
  EXPECT_NEAR(
      share_within("input A[800] f64\nC[i:800] = i32(A[i] * 3000000000.0)", -2147483648.0, 2147483647.0), 0.7,
      0.05);
  EXPECT_EQ(share_within("input A[800] f64\nC[i:800] = i32((cos(A[i]) + 2.0) * 1e30)", 0, 2147483647.0), 0);
}

TEST(DrawData, IntegersThatShrinkKeepBothSigns) {
  const DrawnData drawn = drawn_for("input A[800] i8\nC[i:800] = i8(f32(A[i]) * 1e6 * M[i])");
  EXPECT_LT(std::ranges::min(drawn.inputs[0].values), 0);
  EXPECT_GT(std::ranges::max(drawn.inputs[0].values), 0);
}

// Drawing for the formula, which is ended when its watch is asked for the last time.
void expect_ended(const std::string& text, int last, const std::string& message) {
  int asked = 0;
  const Watch watch{.stop = [&] { return ++asked >= last; }};
  const Result<DrawnData> drawn = draw_data(task_of(text).dag, 1, 1500, watch);
  ASSERT_FALSE(drawn);
  EXPECT_EQ(drawn.error().kind, ErrorKind::timeout);
  EXPECT_EQ(drawn.error().message, message);
  EXPECT_EQ(asked, last) << "in the midst of it";
}

TEST(DrawData, WhoeverWatchesMayEndIt) {
  expect_ended("C[i:4000000] = A[i] + 1.0", 3, "there was no time left to draw inputs");
}

TEST(DrawData, OneElementThatConsistsOfAllOthersIsEndedToo) {
  expect_ended("T[i:3000] = sum(j:3000) A[i] * A[j]\nC[k:9] = sum(r:3000) T[r] * A[k]", 5,
               "there is no time left to evaluate C");
}

TEST(PointsToCheck, AreAllOfASmallOutput) {
  Rng rng(1);
  const std::vector<int64_t> points = points_to_check({3, 5}, 15, rng);
  EXPECT_EQ(std::set<int64_t>(points.begin(), points.end()).size(), 15u);
}

TEST(PointsToCheck, OfALargeOutputHaveItsCornersAndLieInside) {
  Rng rng(1);
  const std::vector<int64_t> shape = {100, 70, 90};
  const std::vector<int64_t> points = points_to_check(shape, 500, rng);
  EXPECT_GE(points.size(), 400u);
  EXPECT_LE(points.size(), 600u);
  for (const int64_t point : points) {
    EXPECT_GE(point, 0);
    EXPECT_LT(point, int64_t{100} * 70 * 90);
  }
  for (const int64_t i : {0, 99}) {
    for (const int64_t j : {0, 69}) {
      for (const int64_t k : {0, 89}) {
        EXPECT_NE(std::ranges::find(points, (i * 70 + j) * 90 + k), points.end())
            << i << " " << j << " " << k;
      }
    }
  }
}

TEST(PointsToCheck, FollowFromTheSeed) {
  Rng first(3);
  Rng same(3);
  Rng other(4);
  const std::vector<int64_t> points = points_to_check({200, 200}, 300, first);
  EXPECT_EQ(points, points_to_check({200, 200}, 300, same));
  EXPECT_NE(points, points_to_check({200, 200}, 300, other));
}

}  // namespace
}  // namespace lathe::testing
