// First guesses from sizes alone.
#include "space/estimate.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "expr/parse.h"
#include "target/all.h"

namespace lathe {
namespace {

Task task_of(const std::string& text, const std::vector<std::string>& constants = {}) {
  const Result<Dag> dag = parse_dag(text);
  EXPECT_TRUE(dag) << dag.error().to_string();
  return make_task("t", *dag, generic_target("x86-avx2"), constants).value();
}

double cycles(const Task& task, const std::map<size_t, TileAxes>& tiles = {}) {
  return estimated_cycles(task, task.dag, classify(task, task.dag), tiles);
}

// The longer of two times, and the part of the shorter one that passes beside it.
double together(double one, double other) {
  return std::max(one, other) + CostConstants().beside_longer * std::min(one, other);
}

double least(const std::string& text) {
  const Task task = task_of(text);
  return least_operations(task.dag, classify(task, task.dag));
}

// From the second-level cache, the third-level one and memory, each slower than the one before.
TEST(Estimate, BytesPerCycle) {
  const Target target = generic_target("x86-avx2");
  const auto l2 = static_cast<double>(target.cpu().l2.bytes);
  const auto l3 = static_cast<double>(target.cpu().l3.bytes);
  EXPECT_EQ(bytes_per_cycle(target.cpu(), l2), bytes_per_cycle(target.cpu(), 1));
  EXPECT_LT(bytes_per_cycle(target.cpu(), l2 + 1), bytes_per_cycle(target.cpu(), l2));
  EXPECT_EQ(bytes_per_cycle(target.cpu(), l3), bytes_per_cycle(target.cpu(), l2 + 1));
  EXPECT_LT(bytes_per_cycle(target.cpu(), l3 + 1), bytes_per_cycle(target.cpu(), l3));
}

// Two for each multiply-add of the products; nothing for other stages, or integers.
TEST(Estimate, LeastOperations) {
  EXPECT_EQ(least("C[i:8, j:16] = sum(r:32) A[i, r] * B[r, j]"), 2 * 8 * 16 * 32);
  EXPECT_EQ(least("C[i:8, j:16] = sum(r:32) A[i, r] * B[r, j]\nO[i:8, j:16] = exp(C[i, j])"),
            2 * 8 * 16 * 32);
  EXPECT_EQ(least("C[i:8] = max(r:32) A[i, r]"), 0);
  EXPECT_EQ(least("input A[8, 32] i32; input B[32, 16] i32\nC[i:8, j:16] = sum(r:32) A[i, r] * B[r, j]"),
            2 * 8 * 16 * 32);
  EXPECT_EQ(least("input A[8, 32] i8; input B[32, 16] i8\nC[i:8, j:16] = sum(r:32) A[i, r] * B[r, j]"), 0)
      << "a vector holds more of them";
}

// What a condition makes zero is left out, within the sample's errors.
TEST(Estimate, LeastOperationsOfMostlyZeros) {
  const double all = 2.0 * 8 * 16 * 32;
  const double quarter = least("C[i:8, j:16] = sum(r:32) select(r < 8, A[i, r], 0.0) * B[r, j]");
  EXPECT_LE(quarter, 0.27 * all);
  EXPECT_GE(quarter, 0.15 * all);
}

// Elements in vectors; what is inlined or prepared costs nothing.
TEST(Estimate, PointWiseStages) {
  const double one = cycles(task_of("O[i:800] = exp(A[i])"));
  EXPECT_EQ(one, 100);
  EXPECT_EQ(cycles(task_of("T[i:800] = exp(A[i])\nO[i:800] = T[i] * 2.0")), one);
  EXPECT_EQ(cycles(task_of("T[i:800] = exp(W[i])\nO[i:800] = T[i] * A[i]", {"W"})), one);
}

// A product without a tile goes one element at a time; with one, in vectors that take their time however few
// lanes are filled.
TEST(Estimate, TilesOfProducts) {
  const Task task = task_of("C[i:64, j:64] = sum(r:64) A[i, r] * B[r, j]");
  const double fma = task.target.cpu().fma_per_cycle;
  EXPECT_EQ(cycles(task), 64 * 64 * 64 / fma);
  TileAxes tile;
  tile.vector = 1;
  tile.rows = 0;
  EXPECT_EQ(cycles(task, {{0, tile}}), 64 * 64 * 8 / fma);
  const Task narrow = task_of("C[i:64, j:4] = sum(r:64) A[i, r] * B[r, j]");
  EXPECT_EQ(cycles(narrow, {{0, tile}}), 64 * 64 / fma);
  // Without rows nothing is used twice.
  TileAxes vectors;
  vectors.vector = 1;
  EXPECT_GT(cycles(task, {{0, vectors}}), cycles(task, {{0, tile}}));
}

// A constant that no near cache holds has to come from further away.
TEST(Estimate, FetchedConstants) {
  const std::string text = "C[i:2, j:4096] = sum(r:4096) A[i, r] * B[r, j]";
  TileAxes tile;
  tile.vector = 1;
  tile.rows = 0;
  const Task fetched = task_of(text, {"B"});
  constexpr double kBytes = 4096.0 * 4096 * 4;
  EXPECT_DOUBLE_EQ(
      cycles(fetched, {{0, tile}}),
      together(kBytes / bytes_per_cycle(fetched.target.cpu(), kBytes), cycles(task_of(text), {{0, tile}})));
  EXPECT_LT(cycles(task_of(text), {{0, tile}}), cycles(fetched, {{0, tile}}));
}

// So it has whatever reads it.
TEST(Estimate, FetchedConstantsOfAnyStage) {
  const std::string text = "C[i:4096, j:1024] = A[i, j] + B[i, j]";
  const Task fetched = task_of(text, {"B"});
  constexpr double kBytes = 4096.0 * 1024 * 4;
  EXPECT_DOUBLE_EQ(cycles(fetched),
                   together(kBytes / bytes_per_cycle(fetched.target.cpu(), kBytes), cycles(task_of(text))));
  EXPECT_LT(cycles(task_of(text)), cycles(fetched));
}

// A few rows of a table are all that comes of it.
TEST(Estimate, FetchedPlacesOfATable) {
  const std::string text = "C[i:8, j:1024] = T[s[i], j]";
  const std::string table = "input T[65536, 1024] f32\ninput s[8] i32\n";
  const double bytes = 65536.0 * 1024 * 4;
  const Task fetched = task_of(table + text, {"T"});
  const double all = bytes / bytes_per_cycle(fetched.target.cpu(), bytes);
  const double picking = cycles(task_of(table + text));
  EXPECT_DOUBLE_EQ(cycles(fetched), together(all * 8 / 65536, picking));
}

// Where a network's constants exceed the caches even small ones have left them when their turn comes again.
TEST(Estimate, ConstantsOfATaskThatRunsColdComeFromMemory) {
  const std::string text = "C[i:8, j:16] = sum(r:32) A[i, r] * B[r, j]";
  Task task = task_of(text, {"B"});
  const double warm = cycles(task);
  EXPECT_EQ(warm, cycles(task_of(text)));
  task.runs_cold = true;
  EXPECT_DOUBLE_EQ(cycles(task), together(warm, 32 * 16 * 4 / CostConstants().cold_bytes_per_cycle));
}

}  // namespace
}  // namespace lathe
