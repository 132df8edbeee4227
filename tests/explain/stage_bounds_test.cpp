// Bytes and times of blocks, counted by hand.
#include "explain/stage_bounds.h"

#include <gtest/gtest.h>

#include "expr/parse.h"
#include "schedule/apply.h"
#include "target/all.h"
#include "task/task.h"

namespace lathe {
namespace {

Target target_of_caches(int64_t l1, int64_t l2, int64_t l3) {
  Target target = generic_target("x86-avx2");
  target.cpu().l1.bytes = l1;
  target.cpu().l2.bytes = l2;
  target.cpu().l3.bytes = l3;
  return target;
}

std::vector<StageBound> bounds_of_text(const std::string& text, const std::string& steps,
                                       const Target& target, const Roofline& roofline) {
  const Task task = make_task("t", parse_dag(text).value(), target, {}).value();
  const Result<Program> program = apply_trace(task, parse_trace(steps).value());
  EXPECT_TRUE(program.has_value()) << program.error().to_string();
  return stage_bounds(*program, target, roofline);
}

constexpr const char* kSquares = "C[i:64, j:64] = sum(r:64) A[i,r] * B[r,j]";
constexpr double kMatrix = 4.0 * 64 * 64;

TEST(StageBoundsByHand, WhatFitsIsFetchedOnceForEachLoopOutsideOfIt) {
  const Roofline roofline{.gflops = 100, .gigabytes = {80, 20, 10}};
  // One row of A and of C and all of B fit into the first level: each matrix comes once.
  StageBound bound = bounds_of_text(kSquares, "", target_of_caches(32 << 10, 1 << 20, 1 << 20), roofline)[0];
  EXPECT_EQ(bound.block, "C");
  EXPECT_EQ(bound.bytes[0], 3 * kMatrix);
  EXPECT_EQ(bound.bytes[1], 0);
  // A row of A and a column of B do: B's columns come again for each row.
  bound = bounds_of_text(kSquares, "", target_of_caches(10'000, 1 << 20, 1 << 20), roofline)[0];
  EXPECT_EQ(bound.bytes[0], 2 * kMatrix + 64 * kMatrix);
  // All three do.
  bound = bounds_of_text(kSquares, "", target_of_caches(3 * 4 * 64 * 64, 1 << 20, 1 << 20), roofline)[0];
  EXPECT_EQ(bound.bytes[0], 0);
}

TEST(StageBoundsByHand, TilesAreFetchedLessOften) {
  const Roofline roofline{.gflops = 100, .gigabytes = {80, 20, 10}};
  const Target target = target_of_caches(10'000, 1 << 20, 1 << 20);
  const double plain = bounds_of_text(kSquares, "", target, roofline)[0].bytes[0];
  // For a tile of 8 columns a row of A, 8 columns of B (2 KB) and 8 elements of C fit with all rows: B's tile
  // comes once, A eight times.
  const double tiled =
      bounds_of_text(kSquares, "split C j [8]\nreorder C j.0 i j.1 r\n", target, roofline)[0].bytes[0];
  EXPECT_EQ(tiled, kMatrix + kMatrix + 8 * kMatrix);
  EXPECT_LT(tiled, plain);
}

TEST(StageBoundsByHand, TheSlowestWayIsTheLimit) {
  const Target target = target_of_caches(10'000, 20'000, 40'000);
  const auto bound = [&](const Roofline& roofline) {
    return bounds_of_text(kSquares, "", target, roofline)[0];
  };
  const double operations = 2.0 * 64 * 64 * 64;
  const double beyond_first = 2 * kMatrix + 64 * kMatrix;
  const double beyond_second = 3 * kMatrix;
  const StageBound units = bound({.gflops = 1, .gigabytes = {1e3, 1e3, 1e3}});
  EXPECT_EQ(units.operations, operations);
  EXPECT_EQ(units.bytes, (std::array<double, 3>{beyond_first, beyond_second, beyond_second}));
  EXPECT_EQ(units.limit, Bottleneck::units);
  EXPECT_DOUBLE_EQ(units.seconds, operations * 1e-9);
  const StageBound second = bound({.gflops = 1e6, .gigabytes = {1, 1, 1}});
  EXPECT_EQ(second.limit, Bottleneck::second_level);
  EXPECT_DOUBLE_EQ(second.seconds, beyond_first * 1e-9);
  const StageBound third = bound({.gflops = 1e6, .gigabytes = {1e6, 1, 2}});
  EXPECT_EQ(third.limit, Bottleneck::third_level);
  EXPECT_DOUBLE_EQ(third.seconds, beyond_second * 1e-9);
  const StageBound memory = bound({.gflops = 1e6, .gigabytes = {1e6, 2, 0.5}});
  EXPECT_EQ(memory.limit, Bottleneck::memory);
  EXPECT_DOUBLE_EQ(memory.seconds, beyond_second / 0.5 * 1e-9);
}

// What a step makes a block of its own has a bound of its own.
TEST(StageBoundsByHand, EachBlockHasItsOwnInTheOrderOfTheProgram) {
  const Roofline roofline{.gflops = 100, .gigabytes = {80, 20, 10}};
  const Target target = target_of_caches(1024, 4096, 1 << 20);
  const char* two = "T[i:4096] = A[i] * A[i]  C[i:4096] = T[i] + 1.0";
  const auto apart = bounds_of_text(two, "", target, roofline);
  ASSERT_EQ(apart.size(), 2U);
  EXPECT_EQ(apart[0].block, "T");
  EXPECT_EQ(apart[1].block, "C");
  EXPECT_EQ(apart[1].operations, 4096);
  EXPECT_EQ(apart[1].bytes[1], 2 * 4 * 4096);
  const auto together = bounds_of_text(two, "inline T\n", target, roofline);
  ASSERT_EQ(together.size(), 1U);
  EXPECT_EQ(together[0].operations, 2 * 4096);
}

// Points beyond the end of a last tile are no work.
TEST(StageBoundsByHand, OnlyUsefulOperationsCount) {
  const Roofline roofline{.gflops = 100, .gigabytes = {80, 20, 10}};
  const Target target = generic_target("x86-avx2");
  const char* sum = "C[i:9] = A[i] + 1.0";
  EXPECT_EQ(bounds_of_text(sum, "", target, roofline)[0].operations, 9);
  EXPECT_EQ(bounds_of_text(sum, "split C i [8]\n", target, roofline)[0].operations, 9);
}

TEST(LimitNames, AreThoseOfTheWays) {
  EXPECT_STREQ(to_string(Bottleneck::units), "units");
  EXPECT_STREQ(to_string(Bottleneck::second_level), "second level");
  EXPECT_STREQ(to_string(Bottleneck::third_level), "third level");
  EXPECT_STREQ(to_string(Bottleneck::memory), "memory");
}

}  // namespace
}  // namespace lathe
