// Taps that meet nothing but padding are taken out of the sum, and the result stays.
#include "rewrite/trim.h"

#include <gtest/gtest.h>

#include "rewrite/same_result.h"
#include "space/all.h"

namespace lathe::testing {
namespace {

Task flat_image() {
  return task_of_workload(
      R"({"name":"c", "op":"conv3d", "batch":1, "depth":1, "height":4, "width":3, "in_channels":2,
                     "out_channels":3, "kernel":3, "stride":1, "padding":1})");
}

Trace trimmed() { return {RewriteStep{"trim", "O", {}}}; }

TEST(Trim, GivesTheSameResult) { expect_same(flat_image(), trimmed()); }

TEST(Trim, LeavesTheTapsThatMeetTheImage) {
  const Result<Dag> dag = rewrite_trim(flat_image().dag, "O", {});
  ASSERT_TRUE(dag) << dag.error().to_string();
  const Compute& sum = dag->computes.back();
  std::vector<int64_t> reduced;
  for (size_t r = sum.spatial_count(); r < sum.axes.size(); ++r) reduced.push_back(sum.axes[r].extent);
  EXPECT_EQ(reduced, (std::vector<int64_t>{2, 1, 3, 3}));
}

TEST(Trim, WhereAllTapsMeetSomethingItIsRefused) {
  const Task task =
      task_of_workload(R"({"name":"c", "op":"conv2d", "batch":1, "height":4, "width":3, "in_channels":2,
                                "out_channels":3, "kernel":3, "stride":1, "padding":1})");
  const Result<Dag> refused = rewrite_trim(task.dag, "O", {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "trim does not apply to 'O': all its iterations add something");
}

TEST(Trim, EveryArmBeginsWithIt) {
  const Result<Space> space = derive_space(flat_image());
  ASSERT_TRUE(space) << space.error().to_string();
  ASSERT_FALSE(space->preferred_points().empty());
  for (const Point& point : space->preferred_points()) {
    const Result<Trace> trace = space->trace(point);
    ASSERT_TRUE(trace) << trace.error().to_string();
    EXPECT_EQ(to_string(trace->front()), "rewrite trim O");
  }
}

}  // namespace
}  // namespace lathe::testing
