// Artifacts are timed as long as there is time.
#include "artifact/open/time_artifact.h"

#include <gtest/gtest.h>

#include "artifact/artifact_fixture.h"

namespace lathe {
namespace {

class TimeArtifactTest : public ArtifactTest {};

TEST_F(TimeArtifactTest, ARunIsTimedUnlessThereIsNoTime) {
  write_matmul();
  const auto time = time_artifact(folder(), options_.target.cpu().cores);
  ASSERT_TRUE(time.has_value()) << time.error().to_string();
  EXPECT_GT(time->seconds, 0);
  EXPECT_GT(time->samples, 0U);
  const auto late = time_artifact(folder(), options_.target.cpu().cores, 0, Deadline::in(0));
  ASSERT_FALSE(late.has_value());
  EXPECT_EQ(late.error().kind, ErrorKind::timeout);
  EXPECT_EQ(late.error().message, "there was no time left to run it");
  EXPECT_FALSE(time_artifact(folder(), options_.target.cpu().cores, 50, Deadline::in(40)).has_value());
}

// A run that is thought to take no time, and takes a second or more: sums of what lies at divided places.
TEST_F(TimeArtifactTest, ARunThatTakesLongerThanItMayIsEnded) {
  const auto workloads = parse_workloads(
      R"([{"name": "s", "op": "expression", "text": "S[] = sum(r:1000000000) A[r % 1000]"}])", "test");
  ASSERT_TRUE(workloads.has_value()) << workloads.error().to_string();
  options_.check = Checked::none;
  write(compile_operator(workloads->front(), options_));
  const auto late = time_artifact(folder(), options_.target.cpu().cores, 0, Deadline::in(0.3));
  ASSERT_FALSE(late.has_value());
  EXPECT_EQ(late.error().message, "there was no time left to run it");
}

}  // namespace
}  // namespace lathe
