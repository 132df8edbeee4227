#include "network/liveness.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/rng.h"

namespace lathe {
namespace {

TEST(Liveness, SharesWhatIsNotAliveTogether) {
  // A chain: each buffer lives until the next step has read it, so that two places suffice.
  const std::vector<BufferLife> chain{{100, 0, 1}, {100, 1, 2}, {100, 2, 3}, {100, 3, 4}};
  const ArenaPlan plan = plan_arena(chain);
  EXPECT_EQ(plan.bytes, 256);
  EXPECT_EQ(plan.offsets, (std::vector<int64_t>{0, 128, 0, 128}));
}

TEST(Liveness, FillsGaps) {
  const std::vector<BufferLife> lives{{256, 0, 9}, {128, 0, 3}, {64, 4, 9}, {64, 4, 9}};
  EXPECT_EQ(plan_arena(lives).bytes, 384);
}

TEST(Liveness, OfNothingIsNothing) { EXPECT_EQ(plan_arena({}).bytes, 0); }

TEST(Liveness, LiveBuffersNeverOverlap) {
  Rng rng(5);
  for (int round = 0; round < 200; ++round) {
    std::vector<BufferLife> lives(rng.below(40));
    int64_t sum = 0;
    for (BufferLife& life : lives) {
      life.bytes = rng.between(1, 1000);
      life.first = rng.below(20);
      life.last = life.first + rng.below(6);
      sum += life.bytes + 63;
    }
    const ArenaPlan plan = plan_arena(lives);
    ASSERT_EQ(plan.offsets.size(), lives.size());
    EXPECT_LE(plan.bytes, sum);
    for (size_t a = 0; a < lives.size(); ++a) {
      EXPECT_EQ(plan.offsets[a] % 64, 0);
      EXPECT_LE(plan.offsets[a] + lives[a].bytes, plan.bytes);
      for (size_t b = 0; b < a; ++b) {
        if (lives[a].first > lives[b].last || lives[b].first > lives[a].last) continue;
        EXPECT_TRUE(plan.offsets[a] + lives[a].bytes <= plan.offsets[b] ||
                    plan.offsets[b] + lives[b].bytes <= plan.offsets[a]);
      }
    }
  }
}

}  // namespace
}  // namespace lathe
