// A run in a child: what it takes, and how it is ended.
#include "artifact/open/run_apart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cerrno>

#include "artifact/artifact_fixture.h"

namespace lathe {
namespace {

class RunApartTest : public ArtifactTest {
 protected:
  LoadedArtifact opened() {
    write_matmul();
    LoadedArtifact artifact = LoadedArtifact::open(folder(), options_.target.cpu().cores).value();
    EXPECT_TRUE(artifact.set_input(0, array_of({19, 17}, random_floats(19 * 17, 1)), "A").has_value());
    EXPECT_TRUE(artifact.set_input(1, array_of({17, 21}, random_floats(17 * 21, 2)), "B").has_value());
    return artifact;
  }
};

TEST_F(RunApartTest, ItTakesSomeTimeAndLeavesNoProcess) {
  LoadedArtifact artifact = opened();
  const auto seconds = run_apart(artifact, {});
  ASSERT_TRUE(seconds.has_value()) << seconds.error().to_string();
  EXPECT_GT(*seconds, 0);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

// The outputs are the child's: here nothing has run yet, and then what this process runs.
TEST_F(RunApartTest, TheArtifactRunsHereAfterwards) {
  LoadedArtifact artifact = opened();
  ASSERT_TRUE(run_apart(artifact, {}).has_value());
  check_matmul(artifact, random_floats(19 * 17, 3), random_floats(17 * 21, 4));
}

// Where it has no input, which whoever calls must not do: this process goes on.
TEST_F(RunApartTest, ARunThatEndsByASignalIsASentence) {
  write_matmul();
  LoadedArtifact artifact = LoadedArtifact::open(folder(), options_.target.cpu().cores).value();
  const auto seconds = run_apart(artifact, {});
  ASSERT_FALSE(seconds.has_value());
  EXPECT_EQ(seconds.error().message, "its run ended by signal 6");
}

}  // namespace
}  // namespace lathe
