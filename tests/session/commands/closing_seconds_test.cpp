// What the end of a tuning run is planned to take.
#include "session/commands/closing_seconds.h"

#include <gtest/gtest.h>

#include "expr/parse.h"
#include "measure/time_bounds.h"
#include "session/network_file.h"
#include "target/all.h"

namespace lathe {
namespace {

Task product_of(int64_t rows) {
  const Dag dag = parse_dag("C[i:" + std::to_string(rows) + ", j:64] = sum(r:64) A[i,r] * B[r,j]").value();
  return make_task("mm", dag, generic_target("x86-avx2"), {}).value();
}

TEST(ClosingSeconds, AnOperatorIsLinkedAndRunSomeTimes) {
  EXPECT_EQ(closing_seconds(std::vector<Task>{}), 0);
  const Task small = product_of(64);
  const Task large = product_of(6400);
  EXPECT_DOUBLE_EQ(closing_seconds(std::vector<Task>{small}), 0.4 + 8 * fastest_seconds(small));
  EXPECT_DOUBLE_EQ(closing_seconds({small, large, large}),
                   1.2 + 8 * (fastest_seconds(small) + 2 * fastest_seconds(large)));
  EXPECT_GT(closing_seconds(std::vector<Task>{large}), closing_seconds(std::vector<Task>{small}));
}

TEST(ClosingSeconds, ANetworksConstantsAreTransformed) {
  const TemporaryFolder folder;
  const Target target = generic_target("x86-avx2");
  const Network small = network_in(folder, small_conv_model(), target);
  ASSERT_EQ(small.tasks.tasks.size(), 1U);
  // 4 filters of 2 x 3 x 3, and a bias for each.
  EXPECT_DOUBLE_EQ(closing_seconds(small), 2 + 0.05 + (72 + 4) * 4 / 70e6);
  const Network large = network_in(folder, wide_conv_model(), target);
  ASSERT_EQ(large.tasks.tasks.size(), 1U);
  EXPECT_DOUBLE_EQ(closing_seconds(large), 2 + 0.05 + 147456 / 70e6);
}

}  // namespace
}  // namespace lathe
