// The space on every operator that Lathe is judged by: enough points are legal, and each of these applies,
// lowers and computes what the formula does.
#include "space/flextensor/derive_flextensor.h"

#include <gtest/gtest.h>

#include <map>

#include "folders.h"
#include "ops/all_workloads.h"
#include "space/flextensor/small_cases.h"
#include "test_share.h"

namespace lathe::testing {
namespace {

Task task_of(const Workload& workload, const char* target, int cores) {
  Result<Task> task = make_task(workload, with_cores(generic_target(target), cores), true);
  EXPECT_TRUE(task) << task.error().to_string();
  return std::move(*task);
}

TEST(Flextensor, HasOneSketchAndNothingToBeginWith) {
  const Result<Space> space = derive_flextensor(task_of_case(kFlextensorCases[6], "x86-avx2", 1, true));
  ASSERT_TRUE(space);
  EXPECT_EQ(space->sketches().size(), 1u);
  EXPECT_TRUE(space->preferred_points().empty());
  EXPECT_TRUE(space->naive().empty());
  EXPECT_TRUE(space->trace({0, space->sketches()[0].preferred}));
}

TEST(Flextensor, OfEveryOperatorMostPointsAreLegalAndThoseApplyAndLower) {
  std::map<std::string, std::pair<int, int>> drawn;  // of each family: legal points, points
  for (size_t w = 0; w < workloads().size(); w += kSanitizedShare) {
    const Workload& workload = workloads()[w];
    const Task task = task_of(workload, w % 2 == 0 ? "x86-avx2" : "x86-avx512", w % 3 == 0 ? 2 : 1);
    const Result<Space> space = derive_flextensor(task);
    if (!task.algorithm.empty()) {
      EXPECT_EQ(space.error().kind, ErrorKind::unsupported);
      continue;
    }
    ASSERT_TRUE(space) << workload.name << ": " << space.error().to_string();
    auto& [legal, points] = drawn[workload.name.substr(0, workload.name.find('.'))];
    Rng rng(w);
    for (int i = 0; i < 10; ++i) {
      const Result<Trace> trace = space->trace({0, sample(space->sketches()[0].domain, rng)});
      ++points;
      if (!trace) {
        EXPECT_TRUE(trace.error().message.starts_with("too long: ")) << trace.error().to_string();
        continue;
      }
      ++legal;
      const Result<Program> program = apply_trace(task, *trace);
      ASSERT_TRUE(program) << workload.name << ": " << program.error().to_string() << "\n"
                           << to_string(*trace);
      if (i > 0) continue;
      const Result<LoweredProgram> lowered = lower(*program, task.target);
      EXPECT_TRUE(lowered) << workload.name << ": " << lowered.error().to_string();
    }
  }
  for (const auto& [family, counts] : drawn) EXPECT_GE(counts.first, 0.8 * counts.second) << family;
}

TEST(Flextensor, EveryPointComputesTheFormula) {
  int number = 0;
  for (const FlextensorCase& small : kFlextensorCases) {
    for (const bool free_layouts : {false, true}) {
      const FlextensorReference reference(
          task_of_case(small, number % 2 == 0 ? "x86-avx2" : "x86-avx512", 1 + number % 3 % 2, free_layouts));
      const Result<Space> space = derive_flextensor(reference.task());
      ASSERT_TRUE(space) << small.op << ": " << space.error().to_string();
      Rng rng(static_cast<uint64_t>(++number));
      for (int i = 0; i < 60 / kDrawnShare; ++i) {
        const Result<Trace> trace = space->trace({0, sample(space->sketches()[0].domain, rng)});
        if (trace) reference.expect_same(*trace, i % 3 == 0);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// [F] 6.2 has 3.9e9 to 2.4e12 points.
TEST(Flextensor, SizesAreProductsOfWhatIsOpen) {
  const auto size_of = [](const std::string& name) {
    const auto workload = std::ranges::find(workloads(), name, &Workload::name);
    return derive_flextensor(task_of(*workload, "x86-avx2", 1))->size();
  };
  // Levels, innermost loop, fusion, unrolling.
  const int64_t others = 3 * 2 * 3 * 4;
  // 512 channels and 7 x 7 pixels in 4 parts, 256 channels in 3.
  EXPECT_EQ(size_of("resnet18.C11"), 220 * 4 * 4 * 45 * others);
  // 64 channels and 56 x 56 pixels in 4 parts, 64 channels and a window of 3 x 3 in 3; the padding's fusion
  // and place.
  EXPECT_EQ(size_of("resnet18.C2"), int64_t{84} * 80 * 80 * 28 * 3 * 3 * others * 3 * 4);
}

TEST(Flextensor, IsForProcessorsAndTheDagItself) {
  Task task = task_of_case(kFlextensorCases[6], "x86-avx2", 1, true);
  task.algorithm = "winograd";
  EXPECT_EQ(derive_flextensor(task).error().to_string(),
            "the space 'flextensor' has no rewrites, and task 'conv2d' requires 'winograd'");
  for (const TargetRow& row : all_targets()) {
    task.target = row.generic();
    if (std::holds_alternative<CpuTarget>(task.target.kind)) continue;
    const Result<Space> space = derive_flextensor(task);
    ASSERT_FALSE(space);
    EXPECT_EQ(space.error().kind, ErrorKind::unsupported);
    EXPECT_TRUE(space.error().message.starts_with("the space 'flextensor' is for processors, and target '"));
  }
}

}  // namespace
}  // namespace lathe::testing
