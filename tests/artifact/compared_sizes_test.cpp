#include "artifact/compared_sizes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "network/free_sizes.h"

namespace lathe {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

TEST(ComparedSizes, AllCombinationsAreVisitedUntilOneFails) {
  std::vector<std::vector<int64_t>> visited;
  const auto visit = [&](const std::vector<int64_t>& at) -> Status {
    visited.push_back(at);
    if (at == std::vector<int64_t>{1, 9}) return fail(ErrorKind::unsupported, "no");
    return {};
  };
  EXPECT_TRUE(for_each_combination({{1, 2}, {5, 6, 7}}, visit));
  EXPECT_EQ(visited.size(), 6U);
  EXPECT_EQ(visited.back(), (std::vector<int64_t>{2, 7}));
  visited.clear();
  EXPECT_FALSE(for_each_combination({{1, 2}, {9, 6}}, visit));
  EXPECT_EQ(visited.size(), 1U);
}

TEST(ComparedSizes, FewSizesAreAllComparedAndManyWithEveryRemainder) {
  EXPECT_THAT(sizes_compared(3, 6, 4), ElementsAre(3, 4, 5, 6));
  const std::vector<int64_t> some = sizes_compared(1, 100000, 64);
  EXPECT_LE(some.size(), 64U);
  for (const int64_t size : {1, 2, 50000, 50001, 99999, 100000, 13, 21}) EXPECT_THAT(some, Contains(size));
  std::vector<int> remainders(5, 0);
  for (const int64_t size : some) ++remainders[static_cast<size_t>(size % 5)];
  for (const int count : remainders) EXPECT_GT(count, 3);
}

TEST(ComparedSizes, LargeNetworksAreComparedAtFewerSizes) {
  Graph small, large;
  small.tensors.push_back({"w", {DType::f32, {4}}, std::make_shared<const Bytes>(16)});
  large.tensors.push_back({"w", {DType::f32, {1 << 24}}, std::make_shared<const Bytes>(size_t{1} << 26)});
  EXPECT_GT(most_compared(small), most_compared(large));
  EXPECT_GE(most_compared(large), kFewestCompared);
  EXPECT_LE(most_compared(Graph()), 2000U) << "a file takes time to read, however small it is";
}

}  // namespace
}  // namespace lathe
