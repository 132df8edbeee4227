// The inner factors of one split: which there are, how many, and what lies one step away.
#include "domain/domain_split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

namespace lathe {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

// All of them, in order; the last factor is the innermost.
TEST(DomainSplit, All) {
  EXPECT_THAT(all_splits({6, 2, false, 64}), ElementsAre(Factors{1}, Factors{2}, Factors{3}, Factors{6}));
  EXPECT_THAT(all_splits({6, 2, false, 3}), ElementsAre(Factors{1}, Factors{2}, Factors{3}));
  EXPECT_THAT(all_splits({5, 2, true, 3}), ElementsAre(Factors{1}, Factors{2}, Factors{3}));
  EXPECT_THAT(all_splits({4, 3, false, 2}),
              ElementsAre(Factors{1, 1}, Factors{2, 1}, Factors{4, 1}, Factors{1, 2}, Factors{2, 2}));
  // What three leave of five is two.
  EXPECT_THAT(
      all_splits({5, 3, true, 3}),
      UnorderedElementsAre(Factors{1, 1}, Factors{2, 1}, Factors{3, 1}, Factors{4, 1}, Factors{5, 1},
                           Factors{1, 2}, Factors{2, 2}, Factors{3, 2}, Factors{1, 3}, Factors{2, 3}));
  EXPECT_THAT(all_splits({7, 1, false, 64}), ElementsAre(Factors{}));
}

// Counting, listing and judging agree, on splits of all kinds.
TEST(DomainSplit, CountsAndFaultsAgreeWithTheList) {
  for (const int64_t extent : {1, 2, 7, 12, 30, 36}) {
    for (const int parts : {1, 2, 3, 4}) {
      for (const bool imperfect : {false, true}) {
        for (const int64_t innermost : {1, 4, 64}) {
          const SplitParameter split{extent, parts, imperfect, innermost};
          const std::vector<Factors> all = all_splits(split);
          EXPECT_EQ(count_splits(split), static_cast<int64_t>(all.size()));
          EXPECT_EQ(has_choice(split), all.size() > 1) << extent << " " << parts << " " << imperfect;
          EXPECT_EQ(std::set(all.begin(), all.end()).size(), all.size());
          for (const Factors& factors : all) EXPECT_FALSE(split_fault(split, factors).has_value());
        }
      }
    }
  }
}

// Where the factors are listed no others are counted, drawn, listed or stepped to.
TEST(DomainSplit, ListedFactorsAreTheOnlyOnes) {
  Rng rng(1);
  for (const bool imperfect : {false, true}) {
    const SplitParameter split{64, 3, imperfect, 16, {1, 2, 8, 32}};
    const std::vector<Factors> all = all_splits(split);
    EXPECT_EQ(count_splits(split), static_cast<int64_t>(all.size()));
    std::map<Factors, int> drawn;
    for (int i = 0; i < 4000; ++i) ++drawn[sample_split(split, rng)];
    EXPECT_EQ(drawn.size(), all.size());
    for (const Factors& factors : all) {
      EXPECT_FALSE(split_fault(split, factors));
      EXPECT_NEAR(drawn[factors], 4000.0 / static_cast<double>(all.size()), 120);
    }
  }
  const SplitParameter split{64, 3, false, 16, {1, 2, 8, 32}};
  EXPECT_EQ(split_fault(split, {4, 1}), "factor 0 of a split of 64 must be one of 1, 2, 8, 32 and is 4");
  EXPECT_EQ(step_of_split(split, {2, 1}, 1, 0, Stride::divisor), (Factors{8, 1}));
  EXPECT_FALSE(has_choice({64, 2, false, 64, {1}}));
}

// Too many to list are counted none the less.
TEST(DomainSplit, LargeCounts) {
  EXPECT_EQ(count_splits({1 << 20, 2, true, 1 << 20}), 1 << 20);
  // 2^20 in four parts: as many as ways to deal 20 twos to four.
  EXPECT_EQ(count_splits({1 << 20, 4, false, 1 << 20}), 23 * 22 * 21 / 6);
}

TEST(DomainSplit, Faults) {
  EXPECT_EQ(split_fault({12, 3, false, 64}, {2, 5}), "factor 1 of a split of 12 must divide 12 and is 5");
  EXPECT_EQ(split_fault({12, 3, false, 64}, {5, 2}), "factor 0 of a split of 12 must divide 6 and is 5");
  EXPECT_EQ(split_fault({12, 3, false, 4}, {1, 6}), "factor 1 of a split of 12 must be in 1..4 and is 6");
  EXPECT_EQ(split_fault({12, 2, true, 64}, {0}), "factor 0 of a split of 12 must be in 1..12 and is 0");
  EXPECT_EQ(split_fault({12, 3, true, 64}, {4, 5}), "factor 0 of a split of 12 must be in 1..3 and is 4");
}

// What is drawn is legal, and everything that is legal is drawn.
TEST(DomainSplit, SamplesReachEverything) {
  for (const SplitParameter& split :
       {SplitParameter{12, 3, false, 4}, SplitParameter{7, 3, true, 3}, SplitParameter{9, 1, false, 64}}) {
    Rng rng(3);
    std::set<Factors> drawn;
    for (int i = 0; i < 3000; ++i) drawn.insert(sample_split(split, rng));
    const std::vector<Factors> all = all_splits(split);
    EXPECT_EQ(drawn, std::set(all.begin(), all.end()));
  }
}

// A divisor goes from one part to another, the outer one included.
TEST(DomainSplit, StepsOfAPerfectSplit) {
  const SplitParameter twelve{12, 2, false, 64};
  EXPECT_EQ(step_of_split(twelve, {2}, 1, 0, Stride::divisor), Factors{3});
  EXPECT_EQ(step_of_split(twelve, {2}, 0, 1, Stride::divisor), Factors{1});
  EXPECT_EQ(step_of_split(twelve, {12}, 1, 0, Stride::divisor), std::nullopt);
  EXPECT_EQ(step_of_split({12, 2, false, 2}, {2}, 1, 0, Stride::divisor), std::nullopt);
  const SplitParameter three_parts{4, 3, false, 64};
  EXPECT_EQ(step_of_split(three_parts, {2, 2}, 1, 2, Stride::divisor), (Factors{4, 1}));
  EXPECT_EQ(step_of_split(three_parts, {2, 2}, 2, 1, Stride::divisor), (Factors{1, 4}));
  EXPECT_EQ(step_of_split(three_parts, {2, 2}, 0, 1, Stride::divisor), (Factors{1, 2}));
  EXPECT_EQ(step_of_split(three_parts, {2, 2}, 1, 0, Stride::divisor), std::nullopt);
}

// What one part loses another one has; every legal value can be reached.
TEST(DomainSplit, ADivisorIsGivenFromPartToPart) {
  const SplitParameter split{24, 3, false, 8};
  Rng rng(1);
  std::set<Factors> reached;
  Factors at{1, 1};
  for (int i = 0; i < 2000; ++i) {
    const auto next = divisor_given(split, at, rng);
    if (!next) continue;
    EXPECT_FALSE(split_fault(split, *next));
    EXPECT_NE(*next, at);
    at = *next;
    reached.insert(at);
  }
  EXPECT_EQ(static_cast<int64_t>(reached.size()), count_splits(split));
  EXPECT_EQ(divisor_given({24, 1, false, 8}, {}, rng), std::nullopt);
  EXPECT_EQ(divisor_given({1, 3, false, 8}, {1, 1}, rng), std::nullopt);
}

// One up and down, half and double, and one tile more or fewer: of 100 in tiles of 24 there are five, in
// tiles of 25 four, and of 17 six.
TEST(DomainSplit, StepsOfAnImperfectSplit) {
  const auto up = [](const SplitParameter& split, Stride stride) {
    return step_of_split(split, {24}, 1, 0, stride);
  };
  const auto down = [](Stride stride) { return step_of_split({100, 2, true, 64}, {24}, 0, 1, stride); };
  EXPECT_EQ(up({100, 2, true, 64}, Stride::one), Factors{25});
  EXPECT_EQ(up({100, 2, true, 64}, Stride::tile), Factors{25});
  EXPECT_EQ(up({100, 2, true, 64}, Stride::twice), Factors{48});
  EXPECT_EQ(down(Stride::one), Factors{23});
  EXPECT_EQ(down(Stride::tile), Factors{17});
  EXPECT_EQ(down(Stride::twice), Factors{12});
  EXPECT_EQ(up({100, 2, true, 24}, Stride::one), std::nullopt);
  EXPECT_EQ(step_of_split({1, 2, true, 64}, {1}, 0, 1, Stride::twice), std::nullopt);
}

}  // namespace
}  // namespace lathe
