#include "measure/evict.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <vector>

#include "runtime/buffer.h"

namespace lathe {
namespace {

// Between guard pages: a line too many would end the test.
TEST(MeasureEvict, TouchesNothingBeyondTheBytesAndChangesNone) {
  for (const int64_t bytes : {0, 1, 64, 4095, 4096, 70'000}) {
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

}  // namespace
}  // namespace lathe
