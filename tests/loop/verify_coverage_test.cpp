// How often a block reaches the points of its domain, counted out and beside the interpreter; the whole
// verifier: verify_test.cpp.
#include "loop/verify_coverage.h"

#include <gtest/gtest.h>

#include "loop/samples.h"
#include "loop/walk.h"

namespace lathe {
namespace {

// The block B of a program and the loops around it.
struct Surrounded {
  explicit Surrounded(const std::string& main)
      : program(loop_testing::parsed("input A: f32[64] [0]\noutput C: f32[64] [0]\nmain {" + main + "}")),
        path(path_to_block(program.main, "B")) {
    for (const Stmt& stmt : path)
      if (const For* loop = as<For>(stmt)) loops.push_back(loop);
  }
  const Block& block() const { return *as<Block>(path.back()); }
  std::string coverage(bool must_reach_all, size_t lifetime = 0) const {
    const Status status = verify_coverage(block(), loops, lifetime, must_reach_all);
    return status ? "covered" : status.error().to_string();
  }

  Program program;
  Path path;
  std::vector<const For*> loops;
};

TEST(VerifyCoverage, SpatialPointsMayBeLeftOutOrRepeatedInside) {
  const Surrounded some("for i in 3 { block B { a: 4 = i C[a] = A[a] } }");
  EXPECT_EQ(some.coverage(false), "covered");
  EXPECT_EQ(some.coverage(true), "block B: never reaches a = 3");
  const Surrounded twice("for i in 4 { for j in 2 { block B { a: 4 = i C[a] = A[a] } } }");
  EXPECT_EQ(twice.coverage(true), "covered");
}

TEST(VerifyCoverage, AReductionReachesNoPointTwice) {
  const Surrounded summed(
      "for i in 2 { for r in 6 { block B { a: 2 = i reduce k: 4 = r%4 C[a] init sum= A[k] } } }");
  EXPECT_EQ(summed.coverage(false), "block B: reaches k = 0 2 times");
  const Surrounded around(
      "for n in 3 { for i in 2 { for r in 4 { block B { a: 2 = i reduce k: 4 = r C[a] init sum= A[k] } } } "
      "}");
  EXPECT_EQ(around.coverage(false), "block B: reaches its only point 3 times");
  EXPECT_EQ(around.coverage(false, 1), "covered");  // a buffer of each n's own
}

// A group that reaches beyond the lifetime is not judged.
TEST(VerifyCoverage, APartOfAReductionMayBeAllOfALifetime) {
  const Surrounded part(
      "for n in 3 { for r in 4 { block B { reduce k: 12 = 4*n + r C[0] init sum= A[k] } } }");
  EXPECT_EQ(part.coverage(true), "covered");
  EXPECT_EQ(part.coverage(true, 1), "covered");
  const Surrounded twice(
      "for n in 3 { for r in 6 { block B { reduce k: 12 = 3*n + r C[0] init sum= A[k] } } }");
  EXPECT_EQ(twice.coverage(true), "block B: reaches k = 3 2 times");
  EXPECT_EQ(twice.coverage(true, 1), "covered");
}

// Axes that share loops are taken together.
TEST(VerifyCoverage, FusedAxesAreCountedTogether) {
  const Surrounded whole("for f in 12 { block B { a: 3 = f/4 b: 4 = f%4 C[4*a + b] = A[a] } }");
  EXPECT_EQ(whole.coverage(true), "covered");
  const Surrounded less("for f in 11 { block B { a: 3 = f/4 b: 4 = f%4 C[4*a + b] = A[a] } }");
  EXPECT_EQ(less.coverage(true), "block B: never reaches a = 2, b = 3");
  const Surrounded diagonal("for f in 4 { block B { a: 4 = f b: 4 = f C[4*a + b] = A[a] } }");
  EXPECT_EQ(diagonal.coverage(true), "block B: never reaches a = 0, b = 1");
}

TEST(VerifyCoverage, ConditionsLeavePointsOut) {
  const Surrounded tail(
      "for i in 3 { for j in 4 { block B where 4*i + j < 10 axis 0 {\n"
      "a: 10 = 4*i + j C[a] = A[a] } } }");
  EXPECT_EQ(tail.coverage(true), "covered");
  const Surrounded never("for i in 4 { block B where i < 0 { a: 4 = i C[a] = A[a] } }");
  EXPECT_EQ(never.coverage(true), "block B: never reaches a = 0");
}

// What lies beyond the domain is padding, and no point.
TEST(VerifyCoverage, PointsBeyondTheDomainDoNotCount) {
  const Surrounded padded("for i in 6 { block B { reduce k: 4 = i C[0] init sum= A[k] } }");
  EXPECT_EQ(padded.coverage(true), "covered");
}

// A group with a loop of another extent, or with too many iterations, is not judged.
TEST(VerifyCoverage, WhatCannotBeCountedPasses) {
  const Surrounded open("for n in 3 { for i in n + 1 { block B { a: 9 = i C[a] = A[a] } } }");
  EXPECT_EQ(open.coverage(true), "covered");
  const Surrounded least("for i in min(3, 2) { block B { a: 9 = i C[a] = A[a] } }");
  EXPECT_EQ(least.coverage(true), "covered");
  const Surrounded many("for i in 300 { for j in 300 { block B { a: 64 = (i + j)%63 C[a] = A[a] } } }");
  EXPECT_EQ(many.coverage(true), "covered");
  const Surrounded few("for i in 200 { for j in 300 { block B { a: 64 = (i + j)%63 C[a] = A[a] } } }");
  EXPECT_EQ(few.coverage(true), "block B: never reaches a = 63");
}

TEST(VerifyCoverage, ABlockWithoutAxesHasOnePoint) {
  EXPECT_EQ(Surrounded("block B { C[0] = A[0] }").coverage(true), "covered");
  EXPECT_EQ(Surrounded("for i in 3 { block B { C[0] = A[0] } }").coverage(true), "covered");
}

// Random bindings of two loops onto one axis: the verdict is what the interpreter counts.
TEST(VerifyCoverage, SaysWhatTheInterpreterCounts) {
  Rng rng(17);
  size_t wrong = 0;
  for (int round = 0; round < 120; ++round) {
    const int64_t rows = rng.between(1, 5), columns = rng.between(1, 5);
    const bool is_tiled = rng.below(2) == 0;
    const int64_t step = is_tiled ? columns : rng.between(1, 5);
    const int64_t extent = is_tiled ? rows * columns : rng.between(1, 12);
    const int64_t bound = rng.between(8, 20);
    const std::string text = fmt::format(
        "for i in {} {{ for j in {} {{ block B where i + 2*j < {} {{ reduce k: {} = ({}*i + j)%{}\n"
        "C[0] init sum= A[k] }} }} }}",
        rows, columns, bound, extent, step, extent);
    const Surrounded judged(text);
    const auto run =
        interpret(judged.program, loop_testing::random_inputs(judged.program), {.counts_coverage = true});
    ASSERT_TRUE(run) << run.error().to_string();
    const BlockCoverage& counted = run->coverage.at(0);
    const bool is_right = counted.visited == counted.points && counted.most <= 1;
    EXPECT_EQ(judged.coverage(true) == "covered", is_right) << text << "\n" << judged.coverage(true);
    wrong += is_right ? 0 : 1;
  }
  EXPECT_GT(wrong, 40U);
  EXPECT_LT(wrong, 100U);
}

std::string outside(const std::string& text,
                    std::vector<Conjunct> (*conditions)(const Surrounded&) = nullptr) {
  const Surrounded judged(text);
  const auto value = value_outside(judged.block().axes.at(0), judged.loops,
                                   conditions == nullptr ? std::vector<Conjunct>() : conditions(judged));
  return value ? std::to_string(*value) : "none";
}

TEST(ValueOutside, IsTheExtremeOfASum) {
  EXPECT_EQ(outside("for i in 5 { block B { a: 4 = i C[a] = A[a] } }"), "4");
  EXPECT_EQ(outside("for i in 4 { block B { a: 4 = i - 2 C[a] = A[a] } }"), "-2");
  EXPECT_EQ(outside("for i in 3 { for j in 4 { block B { a: 9 = 3*i + j C[a] = A[a] } } }"), "9");
}

TEST(ValueOutside, IsCountedOutWhereASumHasConditionsOrDivisions) {
  const auto below = [](const Surrounded& judged) {
    return std::vector<Conjunct>{{Affine(judged.loops[0]->var), 4}};
  };
  EXPECT_EQ(outside("for i in 9 { block B { a: 4 = i C[a] = A[a] } }", below), "none");
  EXPECT_EQ(outside("for i in 9 { block B { a: 3 = i C[a] = A[a] } }", below), "3");
  EXPECT_EQ(outside("for i in 9 { block B { a: 4 = i/2 C[a] = A[a] } }"), "4");
  EXPECT_EQ(outside("for i in 9 { block B { a: 5 = i/2 C[a] = A[a] } }"), "none");
  EXPECT_EQ(outside("for i in 9 { block B { a: 5 = i%4 - 3 C[a] = A[a] } }"), "-3");
}

TEST(ValueOutside, IsNoneWhereItCannotBeTold) {
  EXPECT_EQ(outside("for n in 3 { for i in n + 9 { block B { a: 4 = i C[a] = A[a] } } }"), "none");
  EXPECT_EQ(outside("for i in 70000 { block B { a: 4 = i/2 C[a] = A[a] } }"), "none");
}

}  // namespace
}  // namespace lathe
