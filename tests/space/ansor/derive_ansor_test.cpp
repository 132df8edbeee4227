// The space on every operator that Lathe is judged by: points apply and lower, and what they compute is
// right.
#include "space/ansor/derive_ansor.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "expr/parse.h"
#include "folders.h"
#include "space/all.h"
#include "space/ansor/small_operators.h"
#include "test_share.h"

namespace lathe::testing {
namespace {

// Uniform among the sketches, then in the sketch.
Point draw_point(const Space& space, Rng& rng) {
  const auto sketch = static_cast<size_t>(rng.below(space.sketches().size()));
  return {static_cast<int>(sketch), sample(space.sketches()[sketch].domain, rng)};
}

TEST(DeriveAnsor, RandomPointsOfEveryOperatorApplyAndLower) {
  const std::vector<Workload> workloads =
      load_workloads(LATHE_SOURCE_DIR "/workloads/operators.json").value();
  int drawn = 0;
  int legal = 0;
  for (size_t w = 0; w < workloads.size(); w += kDrawnShare) {
    const Task task =
        make_task(workloads[w],
                  with_cores(generic_target(w % 2 == 0 ? "x86-avx2" : "x86-avx512"), w % 3 == 0 ? 1 : 4),
                  w % 5 != 0)
            .value();
    if (!task.algorithm.empty()) continue;
    const Space space = derive_ansor(task).value();
    Rng rng(w);
    for (int i = 0; i < 5; ++i) {
      const Point point = draw_point(space, rng);
      const std::string where = workloads[w].name + " " + space.sketch_of(point).name;
      ++drawn;
      const Result<Trace> trace = space.trace(point);
      if (!trace) {
        EXPECT_TRUE(trace.error().message.starts_with("too long: ")) << trace.error().to_string();
        continue;
      }
      ++legal;
      const Result<Program> program = apply_trace(task, *trace);
      ASSERT_TRUE(program) << where << ": " << program.error().to_string() << "\n" << to_string(*trace);
      if (i > 0) continue;
      const Result<LoweredProgram> lowered = lower(*program, task.target);
      EXPECT_TRUE(lowered) << where << ": " << lowered.error().to_string() << "\n" << to_string(*trace);
    }
  }
  ASSERT_GE(drawn, 5 * 40);
  EXPECT_GE(legal, drawn * 8 / 10);
}

TEST(DeriveAnsor, RandomPointsComputeWhatTheNaiveProgramDoes) {
  for (const char* workload : kSmallOperators) {
    for (const bool free_layouts : {true, false}) {
      const Task task = small_task(workload, 2, free_layouts);
      const Space space = derive_ansor(task).value();
      Rng rng(7);
      for (int i = 0; i < 60 / kDrawnShare; ++i) {
        const Point point = draw_point(space, rng);
        SCOPED_TRACE(task.name + " " + space.sketch_of(point).name);
        const Result<Trace> trace = space.trace(point);
        if (trace) expect_same_in_every_form(task, *trace);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Reads of one place, or of none; scalars; several readers, each of which inlines or not; chains of sums and
// products; constants of constants; tables.
TEST(DeriveAnsor, OddFormulasHaveLegalPoints) {
  const std::string entries = "{1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0}";
  const std::vector<std::string> texts = {
      "O[] = sum(r:24) A[r] * A[r]",
      "M[i:8] = max(j:16) A[i, j]\nO[] = M[7]",
      "H[t:17, d:24] = sum(k:3) X[t, d, k]\nO[d:24] = tanh(H[0, d])",
      "C[a:10, b:16] = sum(c:8) A[a, c] * B[c, b]\nD[a:10] = C[a, 15]",
      "C[b:2] = min(c:7) A[b, c]\nD[b:2, e:5] = select(b + 2 < 2, C[b + 2], A[b, e])",
      "C[a:1, b:16] = sum(k:16) A[a, k] * B[k, b]\nD[b:16] = C[0, b] + 1.0",
      std::string(
          "t[i:16, j:16] = sum(r:16) A[i, r] * B[r, j]\nu[i:16, j:16] = sum(r:16) t[i, r] * B[r, j]\n") +
          "v[i:16, j:16] = sum(r:16) u[i, r] * B[r, j]",
      std::string(
          "C[i:12, j:16] = sum(r:8) A[i, r] * B[r, j]\nD[i:12, j:16] = sum(r:8) A[i, r] * E[r, j]\n") +
          "F[i:12, j:16] = exp(C[i, j]) + D[i, j]",
      "S[i:8, j:12] = exp(A[i, j])\nT[i:8] = sum(j:12) S[i, j]\nO[i:8, j:12] = S[i, j] / T[i]",
      "P[i:6, j:6] = A[j, i] * 2.0\nQ[i:6, j:6] = P[j, i] + 1.0\nR[i:6, j:6] = exp(Q[j, i]) + P[i, j]",
      std::string("A0[f:4, q:3] = sum(k:3) W[f, k] * W[q, k]\nB0[f:4, q:3] = sum(k:3) A0[f, k] * W[q, k]\n") +
          "O[f:4, x:6] = sum(q:3) X[x + q] * B0[f, q]",
      "O[f:4, x:6] = sum(q:3) W[x + q] * W[f + q]",
      "O[i:4, j:6, k:8] = A[i] * B[j] + D[k]",
      "O[c:3, y:5, x:5] = max(k:2, l:2) A[c, 2*y + k, 2*x + l]",
      "input A[44] f32\ntable T[8] = " + entries + "\nC[i:37] = sum(r:8) T[r] * A[i + r]",
      "input A[36, 2] f32\ntable T[4, 2] = " + entries + "\nC[i:36, j:4] = sum(r:2) A[i, r] * T[j, r]",
      "input A[4, 2] f32\ntable T[4, 2] = " + entries + "\nC[j:4] = sum(r:2) A[j, r] * T[j, r]",
      "input A[36, 2] f32\ntable T[2, 2, 2] = " + entries +
          "\nC[i:2, j:2, k:36] = sum(r:2) A[k, r] * T[i, j, r]",
      "input A[12, 8] u8\ninput W[8, 16] i8\nC[i:12, j:16] = sum(r:8) i32(A[i, r]) * i32(W[r, j])",
      std::string("input A[12, 8] f64\ninput W[8, 16] f64\nC[i:12, j:16] = sum(r:8) A[i, r] * W[r, j]\n") +
          "D[i:12, j:16] = exp(C[i, j])",
  };
  for (const std::string& text : texts) {
    const Dag dag = parse_dag(text).value();
    const bool has_weights = std::ranges::find(dag.inputs, "W", [](const Tensor& tensor) {
                               return tensor->name;
                             }) != dag.inputs.end();
    const std::vector<std::string> constants =
        has_weights ? std::vector<std::string>{"W"} : std::vector<std::string>{};
    const Task task =
        make_task("task", dag, with_cores(generic_target("x86-avx512"), 3), constants, true).value();
    const Space space = derive_ansor(task).value();
    Rng rng(5);
    for (int i = 0; i < 60 / kDrawnShare; ++i) {
      const Point point = draw_point(space, rng);
      SCOPED_TRACE(text + "\n" + space.sketch_of(point).name);
      const Result<Trace> trace = space.trace(point);
      ASSERT_TRUE(trace) << trace.error().to_string();
      expect_same_in_every_form(task, *trace);
      if (HasFatalFailure()) return;
    }
  }
}

// Sixty doublings: inlined into each other they would be an expression of 2^60 nodes.
TEST(DeriveAnsor, InlinedExpressionsStaySmall) {
  std::string text = "a0[i:8] = A[i] + A[i]\n";
  for (int i = 0; i < 60; ++i) text += fmt::format("a{}[i:8] = exp(a{}[i]) + a{}[i]\n", i + 1, i, i);
  const Task task = make_task("task", parse_dag(text).value(), generic_target("x86-avx2")).value();
  const Space space = derive_ansor(task).value();
  Rng rng(5);
  const Result<Trace> trace = space.trace(draw_point(space, rng));
  ASSERT_TRUE(trace) << trace.error().to_string();
  EXPECT_TRUE(apply_trace(task, *trace));
}

TEST(DeriveAnsor, OnePointGivesOneTrace) {
  for (const char* workload : kSmallOperators) {
    const Space first = derive_ansor(small_task(workload)).value();
    const Space second = derive_ansor(small_task(workload)).value();
    Rng rng(11);
    for (size_t i = 0; i < first.sketches().size(); ++i) {
      const Sketch& sketch = first.sketches()[i];
      EXPECT_TRUE(check(sketch.domain, sketch.preferred));
      const Point point{static_cast<int>(i), sample(sketch.domain, rng)};
      EXPECT_EQ(sketch.name, second.sketches()[i].name);
      EXPECT_EQ(to_string(first.trace(point).value()), to_string(second.trace(point).value()));
    }
  }
}

TEST(DeriveAnsor, EveryParameterIsOfOneOfFourKinds) {
  for (const char* workload : kSmallOperators) {
    const Space space = derive_ansor(small_task(workload)).value();
    for (const Sketch& sketch : space.sketches()) {
      for (const Parameter& parameter : sketch.domain.parameters) {
        const std::string kind = parameter.name.substr(0, parameter.name.find('.'));
        EXPECT_TRUE(kind == "tile" || kind == "unroll" || kind == "at" || kind == "parallel")
            << parameter.name;
      }
    }
  }
}

TEST(DeriveAnsor, ThereAreNoPointsToBeginWith) {
  const Space space = derive_ansor(small_task(kSmallOperators[0])).value();
  EXPECT_TRUE(space.preferred_points().empty());
  EXPECT_TRUE(space.naive().empty());
}

// What a search may stop at: a multiply-add counts two.
TEST(DeriveAnsor, SketchesSayWhatTheyComputeAtLeast) {
  const Space space = derive_ansor(small_task(kSmallOperators[3])).value();
  for (const Sketch& sketch : space.sketches()) EXPECT_EQ(sketch.operations, 2.0 * 12 * 24 * 8);
}

TEST(DeriveAnsor, WhatItHasNoProgramsForIsSaid) {
  Task task = small_task(kSmallOperators[1]);
  task.algorithm = "winograd";
  EXPECT_EQ(
      derive_space(task, "ansor").error().to_string(),
      "the space 'ansor' has no programs by an algorithm, and the task is to be computed by 'winograd'");
  task.algorithm.clear();
  for (const TargetRow& row : all_targets()) {
    task.target = row.generic();
    if (std::holds_alternative<CpuTarget>(task.target.kind)) continue;
    const Result<Space> space = derive_space(task, "ansor");
    ASSERT_FALSE(space);
    EXPECT_EQ(space.error().kind, ErrorKind::unsupported);
    EXPECT_THAT(space.error().message, ::testing::HasSubstr("has programs for processors, and the target '"));
  }
}

}  // namespace
}  // namespace lathe::testing
