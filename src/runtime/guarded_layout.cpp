#include "runtime/guarded_layout.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace lathe {
namespace {

constexpr std::byte kCanary{0xa5};

int64_t round_up(int64_t value, int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

}  // namespace

GuardedLayout guarded_layout(int64_t bytes, PagePlace place) {
  static const int64_t page = sysconf(_SC_PAGESIZE);
  const int64_t data = round_up(bytes, kBufferAlignment);
  if (place == PagePlace::begin) {
    const int64_t mapped = round_up(kBufferAlignment + data, page);
    return {.bytes = bytes, .mapped_bytes = mapped, .data_offset = kBufferAlignment};
  }
  const int64_t mapped = std::max(round_up(data, page), page);
  return {.bytes = bytes, .mapped_bytes = mapped, .data_offset = mapped - data};
}

void fill_slack(std::byte* mapping, const GuardedLayout& layout) {
  const int64_t end = layout.data_offset + layout.bytes;
  std::fill(mapping, mapping + layout.data_offset, kCanary);
  std::fill(mapping + end, mapping + layout.mapped_bytes, kCanary);
}

std::optional<int64_t> find_overwritten_slack(const std::byte* mapping, const GuardedLayout& layout) {
  for (int64_t at = layout.data_offset + layout.bytes; at < layout.mapped_bytes; ++at) {
    if (mapping[at] != kCanary) return at - layout.data_offset;
  }
  for (int64_t at = layout.data_offset - 1; at >= 0; --at) {
    if (mapping[at] != kCanary) return at - layout.data_offset;
  }
  return std::nullopt;
}

std::string describe_place_outside(int64_t offset, int64_t bytes) {
  const int64_t distance = offset < 0 ? -offset : offset - bytes + 1;
  return fmt::format("{} byte{} {}", distance, distance == 1 ? "" : "s",
                     offset < 0 ? "before the start" : "past the end");
}

}  // namespace lathe
