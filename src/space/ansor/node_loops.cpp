#include "space/ansor/node_loops.h"

#include <fmt/format.h>

#include <algorithm>

namespace lathe {
namespace {

constexpr int64_t kLongestVector = 16;

struct Part {
  int level;
  int64_t extent;
};

std::vector<Part> parts_of_loop(const UncutLoop& loop) {
  if (loop.factors.empty()) return {{loop.reduces ? loop.levels.back() : loop.levels.front(), loop.extent}};
  int64_t outer = loop.extent;
  for (const int64_t factor : loop.factors) outer /= factor;
  std::vector<Part> parts = {{loop.levels.front(), outer}};
  for (size_t i = 0; i < loop.factors.size(); ++i) parts.push_back({loop.levels[i + 1], loop.factors[i]});
  return parts;
}

void split_off_lanes(std::vector<Part>& parts, int64_t lanes) {
  const int64_t length = vectorized_places(parts.back().extent, lanes);
  if (length == 1) return;
  parts.back().extent /= length;
  parts.push_back({kLanes, length});
}

void append_parts(const UncutLoop& loop, const std::vector<Part>& parts, NodeLoops& result) {
  if (parts.size() == 1) {
    result.loops.push_back({loop.name, parts[0].extent, loop.axis, loop.reduces, parts[0].level});
    return;
  }
  SplitStep split{result.block, loop.name, {}};
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) split.factors.push_back(parts[i].extent);
    result.loops.push_back(
        {fmt::format("{}.{}", loop.name, i), parts[i].extent, loop.axis, loop.reduces, parts[i].level});
  }
  result.splits.emplace_back(std::move(split));
}

}  // namespace

std::vector<std::string> NodeLoops::names() const {
  std::vector<std::string> names;
  for (const NodeLoop& loop : loops) names.push_back(loop.name);
  return names;
}

std::optional<size_t> NodeLoops::last_up_to(int level) const {
  std::optional<size_t> last;
  for (size_t i = 0; i < loops.size() && loops[i].level <= level; ++i) last = i;
  return last;
}

bool NodeLoops::has_level(int level) const {
  return std::ranges::find(loops, level, &NodeLoop::level) != loops.end();
}

int64_t NodeLoops::extent_inside(std::optional<size_t> loop, size_t axis) const {
  int64_t extent = 1;
  for (size_t i = loop ? *loop + 1 : 0; i < loops.size(); ++i) {
    if (loops[i].axis == axis) extent *= loops[i].extent;
  }
  return extent;
}

NodeLoops cut(std::string block, const std::vector<UncutLoop>& uncut, std::optional<size_t> vector,
              int64_t lanes) {
  std::vector<std::vector<Part>> parts;
  for (const UncutLoop& loop : uncut) parts.push_back(parts_of_loop(loop));
  if (vector) split_off_lanes(parts[*vector], lanes);
  const bool has_outer = std::ranges::any_of(uncut, [&](const UncutLoop& loop) {
    const Part& first = parts[static_cast<size_t>(&loop - uncut.data())].front();
    return !loop.reduces && first.level == kOuter && (first.extent > 1 || loop.extent == 1);
  });
  const auto anchor = has_outer ? uncut.end() : std::ranges::find(uncut, false, &UncutLoop::reduces);
  NodeLoops result{.block = std::move(block)};
  for (size_t i = 0; i < uncut.size(); ++i) {
    const bool keeps_first = anchor - uncut.begin() == static_cast<std::ptrdiff_t>(i);
    std::vector<Part> kept;
    for (const Part& part : parts[i]) {
      const bool is_first = &part == &parts[i].front();
      if (part.extent > 1 || (is_first && (keeps_first || uncut[i].extent == 1))) kept.push_back(part);
    }
    append_parts(uncut[i], kept, result);
    if (!uncut[i].reduces) result.spatial.push_back(uncut[i]);
  }
  std::ranges::stable_sort(result.loops, {}, &NodeLoop::level);
  return result;
}

int64_t vectorized_places(int64_t extent, int64_t lanes) {
  if (extent <= kLongestVector) return extent;
  int64_t longest = 1;
  int64_t longest_whole = 1;
  for (int64_t length = 2; length <= kLongestVector; ++length) {
    if (extent % length != 0) continue;
    longest = length;
    if (length % lanes == 0) longest_whole = length;
  }
  return longest_whole > 1 ? longest_whole : longest;
}

}  // namespace lathe
