#include "network/free_sizes.h"

#include <algorithm>
#include <bit>
#include <set>
#include <utility>

namespace lathe {
namespace {

// Below it a kernel takes hardly less time for fewer places: it reads the same weights. BERT takes 8.8 ms for
// 3 tokens and 14.9 for 16.
constexpr int64_t kLeastCounted = 4;

int64_t power_below(int64_t size) {
  return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(size)));
}

// From one size of those that count to the next: half of all sizes lie in the upper half of the bounds, and
// steps there are half as long beside them.
int64_t step_behind(int64_t size, int64_t most) {
  const int64_t parts = 2 * size >= most ? 8 : 4;
  return std::max<int64_t>(power_below(size) / parts, 4);
}

}  // namespace

std::vector<int64_t> sizes_compared(int64_t least, int64_t most, size_t count) {
  std::set<int64_t> sizes;
  const int64_t range = most - least + 1;
  if (std::cmp_less_equal(range, count)) {
    for (int64_t size = least; size <= most; ++size) sizes.insert(size);
    return {sizes.begin(), sizes.end()};
  }
  const auto add = [&](int64_t size) {
    if (size >= least && size <= most) sizes.insert(size);
  };
  const int64_t middle = (least + most) / 2;
  for (const int64_t size : {least, least + 1, middle, middle + 1, most - 1, most}) add(size);
  for (int64_t one = 1, next = 2; one <= most && sizes.size() < count; next += one, one = next - one)
    add(one);
  const int64_t step = std::max<int64_t>(1, range / static_cast<int64_t>(count));
  for (int64_t i = 0; i * step < range && sizes.size() < count; ++i) add(least + i * step + i % step);
  return {sizes.begin(), sizes.end()};
}

std::vector<int64_t> sizes_compiled(const FreeDimension& dimension) {
  std::vector<int64_t> sizes;
  const int64_t most = dimension.most;
  if (dimension.by == SizedBy::exact) {
    for (int64_t size = dimension.least; size < most; ++size) sizes.push_back(size);
  } else if (dimension.by == SizedBy::parts) {
    for (int64_t size = power_below(dimension.least); size < most; size *= 2) sizes.push_back(size);
  } else {
    const int64_t least = std::max(dimension.least, std::min(kLeastCounted, most));
    for (int64_t size = power_below(least); size < most; size += step_behind(size, most))
      if (size >= least) sizes.push_back(size);
  }
  sizes.push_back(most);
  return sizes;
}

std::vector<std::vector<int64_t>> sizes_compiled(const std::vector<FreeDimension>& dimensions, size_t limit) {
  std::vector<std::vector<int64_t>> all;
  for (const FreeDimension& dimension : dimensions) all.push_back(sizes_compiled(dimension));
  const auto combinations = [&] {
    size_t count = 1;
    for (const std::vector<int64_t>& sizes : all) count *= sizes.size();
    return count;
  };
  while (combinations() > limit) {
    size_t longest = dimensions.size();
    for (size_t d = 0; d < dimensions.size(); ++d) {
      if (dimensions[d].by == SizedBy::exact || all[d].size() < 2) continue;
      if (longest == dimensions.size() || all[d].size() > all[longest].size()) longest = d;
    }
    if (longest == dimensions.size()) break;
    std::vector<int64_t> kept;
    for (size_t i = all[longest].size(); i > 0; i -= std::min<size_t>(i, 2))
      kept.insert(kept.begin(), all[longest][i - 1]);
    all[longest] = std::move(kept);
  }
  return all;
}

}  // namespace lathe
