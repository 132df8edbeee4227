#include "artifact/open/profile_artifact.h"

#include "artifact/artifact_fixture.h"
#include "artifact/open/random_inputs.h"
#include "measure/timing.h"

namespace lathe {
namespace {

class ProfileArtifact : public ArtifactTest {};

TEST_F(ProfileArtifact, TheStepsOfARunAreItsTime) {
  write_matmul();
  auto artifact = LoadedArtifact::open(folder(), 1);
  ASSERT_TRUE(artifact.has_value()) << artifact.error().to_string();
  ASSERT_TRUE(set_random_inputs(*artifact, folder(), 1, "test").has_value());
  const double begin = monotonic_seconds();
  const auto profile = profile_artifact(*artifact, 1, 50);
  const double passed = monotonic_seconds() - begin;
  ASSERT_TRUE(profile.has_value()) << profile.error().to_string();
  EXPECT_EQ(profile->samples, 1);
  EXPECT_EQ(profile->runs, 50);
  ASSERT_EQ(profile->launches.size(), 1U);
  EXPECT_GT(profile->launches[0], 0);
  EXPECT_GE(profile->inputs, 0);
  EXPECT_GE(profile->outputs, 0);
  EXPECT_GE(profile->between, 0);
  EXPECT_NEAR(profile->inputs + profile->launches[0] + profile->outputs + profile->between, profile->call,
              1e-12);
  EXPECT_LE(50 * profile->call, passed);
}

}  // namespace
}  // namespace lathe
