#include "space/ansor/sketch_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "domain/choices.h"
#include "expr/parse.h"
#include "space/ansor/derive_ansor.h"
#include "space/ansor/small_operators.h"

namespace lathe::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Task task_of_formula(const char* text, int cores = 1, const std::vector<std::string>& constants = {}) {
  return make_task("task", parse_dag(text).value(), with_cores(generic_target("x86-avx2"), cores), constants,
                   true)
      .value();
}

// Of the sketch of that name, where these choices are answered so and all others as it prefers; the trace
// also gives the right result.
std::string trace_of(const Task& task, const std::string& sketch, const Choices& answers) {
  const Space space = derive_ansor(task).value();
  const auto found = std::ranges::find(space.sketches(), sketch, &Sketch::name);
  if (found == space.sketches().end()) {
    ADD_FAILURE() << "no sketch " << sketch;
    return "";
  }
  const auto integers = integers_of(found->domain, answers, found->preferred);
  EXPECT_TRUE(integers) << "an answer is none of its parameter's values";
  const Point point{static_cast<int>(found - space.sketches().begin()), *integers};
  const Result<Trace> trace = space.trace(point);
  EXPECT_TRUE(trace) << trace.error().to_string();
  expect_same_in_every_form(task, *trace);
  return to_string(*trace);
}

constexpr const char* kPadded =
    "P[c:8, x:18] = select(1 <= x && x < 17, I[c, x - 1], 0.0)\n"
    "O[f:32, x:16] = sum(c:8, k:3) P[c, x + k] * W[f, c, k]";
Choices tiles() {
  return {{"tile.O.f", {2, 1, 8}}, {"tile.O.x", {2, 1, 4}}, {"tile.O.c", {4}}, {"unroll.O", {16}}};
}

TEST(SketchWriter, ACachedTileWithPackedConstants) {
  EXPECT_EQ(trace_of(task_of_formula(kPadded, 1, {"W"}), "O cached at 2", tiles()),
            "layout O [1][0]\nlayout P [1][0]\nlayout I [1][0]\n"
            "cache_read O W W.pack at=prepare scope=workspace layout=[0/16][0/8%2][1/4][2][1%4][0%8]\n"
            "split O x [2 4]\nsplit O f [2 8]\nsplit O c [4]\n"
            "reorder O x.0 f.0 x.1 f.1 c.0 k c.1 x.2 f.2\n"
            "cache_write O O.local at=f.1 scope=registers\n"
            "reorder O.local.out x f\nunroll O.local.out x\nvectorize O.local.out f\n"
            "unroll O c.1\nunroll O x.2\nvectorize O f.2\n"
            "reorder P x c\nvectorize P c\n");
}

// A copy in memory lies as the results do.
TEST(SketchWriter, ACopyOfALargerTile) {
  const std::string trace = trace_of(task_of_formula(kPadded, 1, {"W"}), "O cached at 1", tiles());
  EXPECT_THAT(trace, HasSubstr("cache_write O O.local at=f.0 scope=thread\nlayout O.local [1][0]\n"));
  EXPECT_THAT(trace, HasSubstr("cache_write O O.acc at=f.1 scope=registers\n"));
}

TEST(SketchWriter, APaddingInALoopOfItsReader) {
  Choices answers = tiles();
  answers["at.P"] = {3};
  EXPECT_THAT(trace_of(task_of_formula(kPadded, 1, {"W"}), "O tiled", answers),
              HasSubstr("compute_at P O x.1 scope=thread\nreorder P x c\nvectorize P c\n"));
  answers["at.P"] = {5};
  EXPECT_THAT(trace_of(task_of_formula(kPadded, 1, {"W"}), "O tiled", answers),
              HasSubstr("compute_at P O c.0 scope=thread\nreorder P x c\nvectorize P c\n"));
}

TEST(SketchWriter, APaddingInlineLeavesItsInputToTheReader) {
  Choices answers = tiles();
  answers["at.P"] = {7};
  const std::string trace = trace_of(task_of_formula(kPadded, 1, {"W"}), "O tiled", answers);
  EXPECT_TRUE(trace.starts_with("inline P\nlayout O [1][0]\nlayout I [1][0]\n")) << trace;
}

TEST(SketchWriter, AConsumerTakesTheTile) {
  const Task task = task_of_formula(
      "C[i:16, j:32] = sum(r:8) A[i, r] * B[r, j]\nD[i:16, j:32] = max(C[i, j], 0.0)", 2, {"B"});
  const Choices answers = {{"tile.C.i", {2, 1, 4}}, {"tile.C.j", {2, 2, 8}}, {"unroll.C", {16}}};
  EXPECT_THAT(trace_of(task, "C fused at 1", answers),
              HasSubstr("reverse_compute_at D C i.0 scope=thread\n"));
  const std::string fused = trace_of(task, "C fused at 2", answers);
  EXPECT_THAT(fused, HasSubstr("reverse_compute_at D C i.0_i.1_j.0 scope=thread\n"));
  EXPECT_THAT(fused, HasSubstr("cache_write C C.acc at=j.1 scope=registers\n"));
}

TEST(SketchWriter, PartialResultsOfTheOuterOrTheInnerPart) {
  const Task task = task_of_formula("o[b:4] = sum(i:8, j:6) A[b, i, j]\ns[b:4] = exp(o[b])", 2);
  const Choices answers = {{"tile.o.i_j", {12}}, {"unroll.o.rf", {16}}};
  const std::string outer = trace_of(task, "o rfactor outer", answers);
  EXPECT_THAT(outer, HasSubstr("fuse o i j\nsplit o i_j [12]\nrfactor o i_j.0\n"));
  EXPECT_THAT(outer, HasSubstr("reorder o.rf b i_j.0 i_j.1\n"));
  EXPECT_THAT(outer, HasSubstr("unroll o.rf i_j.1\n"));
  const std::string inner = trace_of(task, "o rfactor inner", answers);
  EXPECT_THAT(inner, HasSubstr("rfactor o i_j.1\n"));
  EXPECT_THAT(inner, HasSubstr("reorder o.rf b i_j.0 i_j.1\n"));
  EXPECT_THAT(inner, HasSubstr("vectorize o.rf i_j.1\n"));
}

TEST(SketchWriter, AReductionAndItsPartsInTheLoopsOfTheirReaders) {
  const Task task = task_of_formula("o[b:4] = max(j:48) A[b, j]\ns[b:4, j:48] = A[b, j] - o[b]", 2);
  const std::string trace =
      trace_of(task, "o rfactor inner", {{"at.o", {1}}, {"at.o.rf", {1}}, {"tile.o.j", {8}}});
  EXPECT_THAT(trace, HasSubstr("compute_at o s b scope=thread\n"));
  EXPECT_THAT(trace, HasSubstr("compute_at o.rf o b scope=thread\n"));
  // Partial results that stay behind are shared by the cores, their sums are not.
  const std::string behind = trace_of(task, "o rfactor inner", {{"at.o", {1}}, {"tile.o.j", {8}}});
  EXPECT_THAT(behind, HasSubstr("parallel o.rf b\n"));
  EXPECT_THAT(behind, Not(HasSubstr("parallel o b\n")));
}

// A table's axis and the sum over it are written out; one vector holds sixteen results.
TEST(SketchWriter, SumsOverATableAreWrittenOut) {
  const Task task = task_of_formula(
      "input A[4, 32] f32\ntable T[3, 4] = {1.0, 0.0, -1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0, -1.0}\n"
      "C[t:3, i:32] = sum(r:4) A[r, i] * T[t, r]");
  const std::string trace = trace_of(task, "C unrolled", {{"tile.C.i", {16}}});
  EXPECT_THAT(trace, HasSubstr("reorder C i.0 t r i.1\n"));
  EXPECT_THAT(trace, HasSubstr("unroll C t\nunroll C r\nvectorize C i.1\n"));
  EXPECT_THAT(trace, HasSubstr("cache_write C C.acc at=i.0 scope=registers\n"));
}

// The copy's vectors run as those of the tile do.
TEST(SketchWriter, SumsOverATableWithVectorsAlongAnotherThanTheLastAxis) {
  const Task task = task_of_formula(
      "input A[4, 32] f32\ntable T[3, 4] = {1.0, 0.0, -1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0, -1.0}\n"
      "C[i:32, t:3] = sum(r:4) A[r, i] * T[t, r]");
  const std::string trace = trace_of(task, "C unrolled", {{"tile.C.i", {8}}});
  EXPECT_THAT(trace, HasSubstr("vectorize C i.1\n"));
  EXPECT_THAT(trace, HasSubstr("reorder C.acc.out t i\nunroll C.acc.out t\nvectorize C.acc.out i\n"));
}

// A tile without vectors in a larger copy, which goes out in vectors.
TEST(SketchWriter, CopiesGoOutInVectors) {
  const Task task = task_of_formula("C[i:16, j:32] = sum(r:8) A[i, r] * B[r, j]");
  EXPECT_THAT(
      trace_of(task, "C cached at 2", {{"tile.C.j", {1, 32, 1}}}),
      HasSubstr("split C.local.out j [16]\nreorder C.local.out i j.0 j.1\nvectorize C.local.out j.1\n"));
}

TEST(SketchWriter, WhatIsMadeOfConstantsIsPrepared) {
  const Task task = task_of_formula(
      "V[r:8, j:16] = W[j, r] * 2.0 + exp(W[j, r])\n"
      "C[i:16, j:16] = sum(r:8) A[i, r] * V[r, j]",
      1, {"W"});
  EXPECT_TRUE(trace_of(task, "C tiled", {}).ends_with("prepare V\n"));
}

}  // namespace
}  // namespace lathe::testing
