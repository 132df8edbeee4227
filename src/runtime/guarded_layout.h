// Where a buffer's bytes lie between its guard pages, for memory of this process (buffer.h) and for memory
// that two processes share (measure/shared_memory.h).
//
//   | guard | leading slack | bytes ... | trailing slack | guard |
//                           ^ 64-byte aligned             ^ the next page
//
// The data must start on a 64-byte boundary, so its end cannot always touch the guard: up to 63 bytes of
// slack are left behind it, and what fills up the first page before it. Slack holds a canary; a write further
// off faults.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace lathe {

constexpr int64_t kBufferAlignment = 64;
// Address space only: wide enough that a row too many or a wrong stride still hits it.
constexpr int64_t kGuardBytes = 256 << 10;

struct GuardedLayout {
  int64_t bytes = 0;         // of data
  int64_t mapped_bytes = 0;  // pages that hold slack and data
  int64_t data_offset = 0;   // of the first data byte in them
};

// Where the data lie: as above, or a line behind the first page's begin, where allocators put large tensors.
// Of two buffers that begin alike in their pages, loads of the one wait for stores to the other that only
// look like theirs; how fast a program is may hang on it.
enum class PagePlace { end, begin };

// The layout of a buffer of so many bytes (>= 0; an empty buffer gets a page of slack).
GuardedLayout guarded_layout(int64_t bytes, PagePlace place = PagePlace::end);

// Writes the canary into the slack of the pages that start at `mapping`.
void fill_slack(std::byte* mapping, const GuardedLayout& layout);

// The place of a slack byte that was overwritten, counted from the first data byte: negative before the data,
// at least layout.bytes behind it. Of several the one nearest to the data.
std::optional<int64_t> find_overwritten_slack(const std::byte* mapping, const GuardedLayout& layout);

// "3 bytes past the end" or "4 bytes before the start": a place outside [0, bytes) in words.
std::string describe_place_outside(int64_t offset, int64_t bytes);

}  // namespace lathe
