#include "network/liveness.h"

#include <algorithm>
#include <numeric>

namespace lathe {

namespace {

constexpr int64_t kAlignment = 64;  // a cache line, and the widest vector

int64_t round_up(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

struct Placed {
  int64_t begin;
  int64_t end;
};

// The lowest aligned offset at which `bytes` lie clear of `taken`.
int64_t lowest_gap(std::vector<Placed>& taken, int64_t bytes) {
  std::sort(taken.begin(), taken.end(), [](const Placed& a, const Placed& b) { return a.begin < b.begin; });
  int64_t offset = 0;
  for (const Placed& other : taken) {
    if (offset + bytes <= other.begin) break;
    offset = std::max(offset, other.end);
  }
  return offset;
}

}  // namespace

ArenaPlan plan_arena(std::span<const BufferLife> buffers) {
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return buffers[a].bytes != buffers[b].bytes ? buffers[a].bytes > buffers[b].bytes : a < b;
  });
  ArenaPlan plan;
  plan.offsets.resize(buffers.size());
  for (size_t at = 0; at < order.size(); ++at) {
    const BufferLife& buffer = buffers[order[at]];
    std::vector<Placed> taken;
    for (size_t before = 0; before < at; ++before) {
      const BufferLife& other = buffers[order[before]];
      if (other.first > buffer.last || buffer.first > other.last) continue;
      taken.push_back({plan.offsets[order[before]], plan.offsets[order[before]] + round_up(other.bytes)});
    }
    plan.offsets[order[at]] = lowest_gap(taken, round_up(buffer.bytes));
    plan.bytes = std::max(plan.bytes, plan.offsets[order[at]] + round_up(buffer.bytes));
  }
  return plan;
}

}  // namespace lathe
