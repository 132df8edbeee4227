// Programs are timed with the conversions around them, as long as there is time.
#include "artifact/race_programs.h"

#include <gtest/gtest.h>

#include "artifact/artifact_fixture.h"

namespace lathe {
namespace {

class RaceProgramsTest : public ArtifactTest {
 protected:
  std::vector<CompiledTask> programs() {
    const auto workloads = parse_workloads(kMatmul, "test");
    const auto task = make_task(workloads->front(), options_.target, false);
    std::vector<CompiledTask> compiled;
    for (const char* trace : {"", "split C i [4]"})
      compiled.push_back(compile_task(*task, *parse_trace(trace), std::nullopt, 0).value());
    return compiled;
  }
};

TEST_F(RaceProgramsTest, EachHasATime) {
  const auto seconds = race_programs(programs());
  ASSERT_TRUE(seconds.has_value()) << seconds.error().to_string();
  ASSERT_TRUE(seconds->has_value());
  ASSERT_EQ((*seconds)->size(), 2U);
  EXPECT_GT((*seconds)->front(), 0);
  EXPECT_GT((*seconds)->back(), 0);
}

TEST_F(RaceProgramsTest, NothingRunsWhereThereIsNoTime) {
  const auto seconds = race_programs(programs(), Deadline::in(0));
  ASSERT_TRUE(seconds.has_value()) << seconds.error().to_string();
  EXPECT_FALSE(seconds->has_value());
}

}  // namespace
}  // namespace lathe
