// The space on every operator that Lathe is judged by: points apply and lower, and what they compute is
// right.
#include "space/ansor/derive_ansor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

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
