// Features mean the same for every program, are finite, and follow from the program alone.
#include "features/features.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "lower/programs.h"
#include "target/all.h"

namespace lathe::testing {
namespace {

constexpr const char* kMatmul = "C[i:29, j:43] = sum(r:17) A[i,r] * B[r,j]";
constexpr const char* kSchedules[] = {
    "",
    R"(split C i [6]
split C j [8]
reorder C i.0 j.0 r i.1 j.1
vectorize C j.1
unroll C i.1
parallel C i.0)",
    "cache_write C L at=i scope=registers\ncache_read C B P at=root scope=thread layout=[1/8][0][1%8]",
    "split C r [4]\nrfactor C r.1",
};

std::vector<float> features_of(const Program& program) {
  return extract_features(program, generic_target("x86-avx2")).flat;
}

float value_of(const std::vector<float>& flat, const std::string& name) {
  const std::vector<std::string>& names = feature_names();
  const auto found = std::find(names.begin(), names.end(), name);
  EXPECT_NE(found, names.end()) << name;
  return found == names.end() ? NAN : flat[static_cast<size_t>(found - names.begin())];
}

TEST(Features, EveryEntryHasADistinctName) {
  const std::vector<std::string>& names = feature_names();
  EXPECT_FALSE(names.empty());
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
}

TEST(Features, AreFiniteAndAsManyAsNames) {
  const Task task = task_of(kMatmul);
  for (const char* schedule : kSchedules) {
    const std::vector<float> flat = features_of(scheduled(task, schedule));
    ASSERT_EQ(flat.size(), feature_names().size()) << schedule;
    for (size_t i = 0; i < flat.size(); ++i)
      EXPECT_TRUE(std::isfinite(flat[i])) << feature_names()[i] << " is " << flat[i] << " of\n" << schedule;
  }
}

TEST(Features, FollowFromTheProgramAlone) {
  for (const char* schedule : kSchedules) {
    EXPECT_EQ(features_of(scheduled(task_of(kMatmul), schedule)),
              features_of(scheduled(task_of(kMatmul), schedule)))
        << schedule;
  }
}

TEST(Features, TellSchedulesApart) {
  const Task task = task_of(kMatmul);
  std::set<std::vector<float>> seen;
  for (const char* schedule : kSchedules) seen.insert(features_of(scheduled(task, schedule)));
  EXPECT_EQ(seen.size(), std::size(kSchedules));
}

TEST(Features, CountVectorLanes) {
  const Task task = task_of(kMatmul);
  const float scalar = value_of(features_of(scheduled(task, "")), "block0.vector_lanes");
  const float vector = value_of(features_of(scheduled(task, kSchedules[1])), "block0.vector_lanes");
  EXPECT_LT(scalar, vector);
}

}  // namespace
}  // namespace lathe::testing
