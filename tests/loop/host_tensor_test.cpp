#include "loop/host_tensor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace lathe {
namespace {

TEST(HostTensor, RoundsToEachType) {
  EXPECT_EQ(round_to(DType::f32, 0.1), static_cast<double>(0.1F));
  EXPECT_EQ(round_to(DType::f64, 0.1), 0.1);
  EXPECT_EQ(round_to(DType::f16, 2049), 2048);
  EXPECT_EQ(round_to(DType::f16, 2051), 2052);
  EXPECT_EQ(round_to(DType::f16, 65519), 65504);
  EXPECT_EQ(round_to(DType::f16, 65520), INFINITY);
  EXPECT_EQ(round_to(DType::f16, std::ldexp(3, -26)), std::ldexp(1, -24));
  EXPECT_EQ(round_to(DType::bf16, 257), 256);
  EXPECT_EQ(round_to(DType::bf16, -259), -260);
  EXPECT_EQ(round_to(DType::bf16, 3e38), static_cast<double>(std::ldexp(226, 120)));
  EXPECT_EQ(round_to(DType::i8, 200), -56);
  EXPECT_EQ(round_to(DType::i32, -2.9), -2);
  EXPECT_EQ(round_to(DType::i64, NAN), 0);
  EXPECT_EQ(round_to(DType::boolean, 7), 1);
  EXPECT_TRUE(std::isnan(round_to(DType::bf16, NAN)));
}

TEST(HostTensor, PackPutsEveryElementAtItsOffset) {
  const std::vector<int64_t> shape = {5, 6};
  const Layout layout{{{0, 4, 0, 0}, {1, 1, 0, 0}, {0, 1, 4, 1}}};
  std::vector<float> values(30);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const std::vector<float> storage = pack<float>(layout, shape, values, -1);
  ASSERT_EQ(storage.size(), 2 * 6 * 5);
  EXPECT_EQ(storage[(1 * 6 + 2) * 5 + 0], 26);  // element [4, 2]
  EXPECT_EQ(storage[(1 * 6 + 2) * 5 + 1], -1);  // row 5 does not exist
  EXPECT_EQ(storage[4], -1);                    // an extra element
  std::vector<float> read;
  for_each_offset(layout, shape, [&](int64_t position, int64_t offset) {
    EXPECT_EQ(position, std::ssize(read));
    read.push_back(storage[static_cast<size_t>(offset)]);
  });
  EXPECT_EQ(read, values);
}

// Another order of the same visits: whatever dimension lies innermost, at any place, in any number of blocks.
TEST(HostTensor, NearbyOffsetsAreThoseOfAllElements) {
  const auto check = [](const Layout& layout, const std::vector<int64_t>& shape) {
    std::map<int64_t, int64_t> in_order;
    for_each_offset(layout, shape,
                    [&](int64_t position, int64_t offset) { in_order.emplace(position, offset); });
    std::map<int64_t, int64_t> nearby;
    for_each_offset_nearby(layout, shape, [&](int64_t position, int64_t offset) {
      EXPECT_TRUE(nearby.emplace(position, offset).second) << position;
    });
    EXPECT_EQ(nearby, in_order);
  };
  check(Layout::row_major(0), {});
  check(Layout::row_major(1), {7});
  check(Layout::row_major(3), {5, 1, 7});
  check(Layout{{{1, 1, 0, 0}, {0, 1, 0, 0}}}, {130, 70});                                  // columns
  check(Layout{{{0, 16, 0, 0}, {1, 1, 0, 0}, {0, 1, 16, 0}}}, {133, 65});                  // panels of rows
  check(Layout{{{0, 1, 0, 0}, {2, 1, 0, 0}, {3, 1, 0, 0}, {1, 1, 0, 0}}}, {2, 70, 3, 5});  // channels last
  check(Layout{{{1, 1, 0, 0}, {2, 1, 0, 0}, {0, 1, 0, 0}}}, {67, 1, 64});
}

TEST(HostTensor, RandomValuesFitTheirType) {
  Rng rng(1);
  for (const double value : random_like(Tensor("A", {100}), rng).values) {
    EXPECT_GE(value, -1);
    EXPECT_LT(value, 1);
    EXPECT_EQ(value, static_cast<double>(static_cast<float>(value)));
  }
  for (const double value : random_like(Tensor("I", {100}, DType::i32), rng, 3).values) {
    EXPECT_TRUE(value == 0 || value == 1 || value == 2);
  }
  for (const double value : random_within(Tensor("B", {100}, DType::i8), rng, {0, 1 << 30}).values) {
    EXPECT_TRUE(value >= 0 && value <= 127) << value;
  }
}

}  // namespace
}  // namespace lathe
