// --target where it names a processor that this machine does not have.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command_line.h"

namespace lathe {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST_F(CliTest, ProgramsForAnotherProcessorAreCompiledAndNotRun) {
  write_matmul();
  const Outcome done = lathe("compile --workload w.json --target aarch64-neon --cores 64 --emit c --out o");
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.out, StartsWith("mm: o/mm\n"));
  EXPECT_THAT(done.err, HasSubstr("lathe: note: this machine does not run aarch64-neon: nothing is compared "
                                  "with a reference or timed\n"));
}

TEST_F(CliTest, NothingIsTunedForAnotherProcessor) {
  write_matmul();
  EXPECT_THAT(
      sentence("tune --workload w.json --target aarch64-neon --trials 1 --records r.db"),
      ::testing::MatchesRegex("lathe: --target: this machine \\(.*\\) cannot run aarch64-neon, it lacks a "
                              "64-bit Arm processor; it runs .*"));
}

}  // namespace
}  // namespace lathe
