// Buffers shared by liveness: offsets in one arena such that no two buffers that live at the same step
// overlap.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lathe {

// A buffer is written in step `first` and read last in step `last` (both included, first <= last); two
// buffers may share bytes only if their steps do not touch.
struct BufferLife {
  int64_t bytes = 0;
  size_t first = 0;
  size_t last = 0;
};

struct ArenaPlan {
  std::vector<int64_t> offsets;  // bytes from the arena's start, multiples of 64; one for each buffer
  int64_t bytes = 0;             // the arena's size, a multiple of 64
};

// Places the largest buffers first, each at the lowest offset where it fits. Quadratic in their number.
ArenaPlan plan_arena(std::span<const BufferLife> buffers);

}  // namespace lathe
