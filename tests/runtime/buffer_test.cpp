#include "runtime/buffer.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace lathe {
namespace {

TEST(GuardedLayout, DataIsAlignedAndItsRoundedEndTouchesTheGuard) {
  for (int64_t bytes : {0, 1, 63, 64, 65, 4095, 4096, 4097, 1 << 20, 4004 * 1001}) {
    const GuardedLayout layout = guarded_layout(bytes);
    EXPECT_EQ(layout.data_offset % kBufferAlignment, 0);
    EXPECT_GE(layout.mapped_bytes, 4096);
    EXPECT_LT(layout.mapped_bytes - layout.data_offset - bytes, kBufferAlignment) << bytes;
    EXPECT_GE(layout.mapped_bytes - layout.data_offset, bytes);
  }
}

TEST(GuardedLayout, DataMayBeginWhereAllocatorsPutThem) {
  for (int64_t bytes : {0, 1, 64, 4032, 4033, 4096, 1 << 20}) {
    const GuardedLayout layout = guarded_layout(bytes, PagePlace::begin);
    EXPECT_EQ(layout.data_offset, kBufferAlignment);
    EXPECT_EQ(layout.mapped_bytes % 4096, 0);
    EXPECT_GE(layout.mapped_bytes, layout.data_offset + bytes);
    EXPECT_LT(layout.mapped_bytes, layout.data_offset + bytes + 4096 + kBufferAlignment);
  }
}

TEST(GuardedBuffer, AWriteBehindDataThatBeginAPageIsFound) {
  Result<GuardedBuffer> buffer = GuardedBuffer::allocate(100, PagePlace::begin);
  ASSERT_TRUE(buffer.has_value());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->data()) % 4096, 64u);
  EXPECT_FALSE(buffer->overwritten_slack().has_value());
  buffer->data()[2000] = std::byte{1};
  EXPECT_EQ(buffer->overwritten_slack(), 2000);
}

TEST(GuardedLayout, SaysAPlaceInWords) {
  EXPECT_EQ(describe_place_outside(-1, 10), "1 byte before the start");
  EXPECT_EQ(describe_place_outside(-8, 10), "8 bytes before the start");
  EXPECT_EQ(describe_place_outside(10, 10), "1 byte past the end");
  EXPECT_EQ(describe_place_outside(13, 10), "4 bytes past the end");
}

TEST(GuardedBuffer, StartsZeroedAndCanBeFilledWithNan) {
  Result<GuardedBuffer> buffer = GuardedBuffer::allocate(100);
  ASSERT_TRUE(buffer.has_value());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->data()) % 64, 0u);
  for (std::byte b : buffer->bytes()) EXPECT_EQ(b, std::byte{0});
  buffer->fill_with_nan();
  for (std::byte b : buffer->bytes()) EXPECT_EQ(b, std::byte{0xff});
  EXPECT_EQ(buffer->overwritten_slack(), std::nullopt);
}

TEST(GuardedBuffer, SeesWritesIntoTheSlack) {
  Result<GuardedBuffer> buffer = GuardedBuffer::allocate(100);
  ASSERT_TRUE(buffer.has_value());
  buffer->data()[-3] = std::byte{1};
  EXPECT_EQ(buffer->overwritten_slack(), -3);
  buffer->data()[101] = std::byte{1};
  EXPECT_EQ(buffer->overwritten_slack(), 101);
}

TEST(GuardedBufferDeathTest, FaultsOnWritesFurtherOff) {
  Result<GuardedBuffer> buffer = GuardedBuffer::allocate(100);
  ASSERT_TRUE(buffer.has_value());
  EXPECT_DEATH(buffer->data()[128] = std::byte{1}, "");
  EXPECT_DEATH(buffer->data()[-4096] = std::byte{1}, "");
  EXPECT_DEATH(buffer->data()[128 + kGuardBytes - 1] = std::byte{1}, "");
}

TEST(GuardedBuffer, MovesItsPages) {
  Result<GuardedBuffer> first = GuardedBuffer::allocate(64);
  ASSERT_TRUE(first.has_value());
  std::byte* data = first->data();
  GuardedBuffer second = std::move(*first);
  EXPECT_EQ(second.data(), data);
  second.data()[0] = std::byte{7};
  second = GuardedBuffer();
}

TEST(GuardedBuffer, NamesWhatTheSystemRefuses) {
  const Result<GuardedBuffer> buffer = GuardedBuffer::allocate(int64_t{1} << 60);
  ASSERT_FALSE(buffer.has_value());
  EXPECT_EQ(buffer.error().kind, ErrorKind::io);
  EXPECT_EQ(buffer.error().message, "cannot allocate 1152921504606846976 bytes: Cannot allocate memory");
}

}  // namespace
}  // namespace lathe
