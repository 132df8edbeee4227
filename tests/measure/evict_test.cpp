#include "measure/evict.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "measure/timing.h"
#include "runtime/buffer.h"

namespace lathe {
namespace {

// Between guard pages: a line too many would end the test.
TEST(MeasureEvict, TouchesNothingBeyondTheBytesAndChangesNone) {
  for (const int64_t bytes : {1, 64, 4095, 4096, 70'000}) {
    Result<GuardedBuffer> buffer = GuardedBuffer::allocate(bytes);
    ASSERT_TRUE(buffer.has_value());
    std::memset(buffer->data(), 7, static_cast<size_t>(bytes));
    void* const pages = buffer->data() - buffer->layout().data_offset;
    ASSERT_EQ(mprotect(pages, static_cast<size_t>(buffer->layout().mapped_bytes), PROT_READ), 0);
    evict_from_caches(buffer->data(), bytes);
    const std::vector<std::byte> expected(static_cast<size_t>(bytes), std::byte{7});
    EXPECT_EQ(std::memcmp(buffer->data(), expected.data(), expected.size()), 0) << bytes;
  }
}

// Each line holds the place of another, in an order that no prefetcher knows: a walk waits for one line after
// the other, some nanoseconds each in a cache, some hundred in memory. The fastest of several walks on both
// sides.
TEST(MeasureEvict, WhatWasEvictedIsReadFromMemoryAgain) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "each load reads the sanitizer's own memory too, which takes longer than the line";
#endif
  constexpr size_t kLines = 2048;
  constexpr size_t kStride = 64 / sizeof(size_t);
  std::vector<size_t> next(kLines * kStride);
  for (size_t line = 0; line < kLines; ++line) next[line * kStride] = (line * 1021 + 7) % kLines * kStride;
  const size_t* const lines = next.data();  // not through the vector, which sanitizers make slow
  volatile size_t place = 0;
  const auto walk = [&] {
    const double start = monotonic_seconds();
    size_t at = place;
    for (size_t i = 0; i < kLines; ++i) at = lines[at];
    place = at;
    return monotonic_seconds() - start;
  };
  double kept = walk();
  double evicted = 1;
  for (int round = 0; round < 20; ++round) {
    kept = std::min(kept, walk());
    evict_from_caches(next.data(), static_cast<int64_t>(next.size() * sizeof(size_t)));
    evicted = std::min(evicted, walk());
    walk();
  }
  EXPECT_GT(evicted, 2 * kept);
}

}  // namespace
}  // namespace lathe
