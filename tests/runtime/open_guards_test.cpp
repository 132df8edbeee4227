#include "runtime/open_guards.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

#include "runtime/buffer.h"

namespace lathe {
namespace {

// Whether the system itself can read a byte there, and write one.
struct Access {
  bool reads = false;
  bool writes = false;

  bool operator==(const Access&) const = default;
};

Access access_of(std::byte* place) {
  std::array<int, 2> ends{};
  EXPECT_EQ(pipe(ends.data()), 0);
  const bool reads = write(ends[1], place, 1) == 1;
  if (!reads) {
    EXPECT_EQ(write(ends[1], "x", 1), 1);
  }
  const Access access{reads, read(ends[0], place, 1) == 1};
  close(ends[0]);
  close(ends[1]);
  return access;
}

TEST(OpenGuards, ThePageBehindABufferIsThereWhileTheyAreOpen) {
  GuardedBuffer input = GuardedBuffer::allocate(60).value();
  GuardedBuffer output = GuardedBuffer::allocate(5000).value();
  const auto mapping = [](GuardedBuffer& buffer) { return buffer.data() - buffer.layout().data_offset; };
  const auto behind = [&](GuardedBuffer& buffer) { return mapping(buffer) + buffer.layout().mapped_bytes; };
  constexpr Access kNone;
  {
    OpenGuards first;
    first.open(mapping(input), input.layout());
    first.open(mapping(output), output.layout());
    const OpenGuards guards = std::move(first);
    EXPECT_EQ(access_of(behind(input)), (Access{true, true}));
    EXPECT_EQ(access_of(behind(output)), (Access{true, true}));
    EXPECT_EQ(access_of(behind(output) + 4095), (Access{true, true}));
    EXPECT_EQ(access_of(behind(output) + sysconf(_SC_PAGESIZE)), kNone);
  }
  EXPECT_EQ(access_of(behind(input)), kNone);
  EXPECT_EQ(access_of(behind(output)), kNone);
}

}  // namespace
}  // namespace lathe
