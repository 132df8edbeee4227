#include "artifact/join_sizes.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace lathe {
namespace {

using Members = std::vector<size_t>;  // places in AskedSizes::dimensions

constexpr std::array<int64_t, 2> kSteps{-1, 1};  // to a smaller size and to a larger one

bool are_alike(const AskedDimension& a, const AskedDimension& b) {
  const auto is_open = [](const AskedDimension& each) {
    return each.least < each.most && !each.fixed && !each.is_named_by_user;
  };
  return is_open(a) && is_open(b) && a.least == b.least && a.most == b.most &&
         a.axes.front().axis == b.axes.front().axis;
}

// With a size of these members that is one more or less than their largest; not 1, which would stand for any
// size.
std::map<std::string, Shape> changed(const AskedSizes& asked, const Members& members, int64_t by) {
  std::map<std::string, Shape> shapes = asked.shapes;
  for (const size_t member : members) {
    const AskedDimension& dimension = asked.dimensions[member];
    const int64_t other = dimension.most > 2 ? dimension.most + by : dimension.most + 1;
    for (const NamedAxis& axis : dimension.axes) {
      const auto shape = shapes.find(axis.input);
      if (shape != shapes.end() && axis.axis < shape->second.size()) shape->second[axis.axis] = other;
    }
  }
  return shapes;
}

// Whether the first member cannot change so, and all together can: inputs that must agree, or one of which
// may be the smaller one alone.
bool must_join(const AskedSizes& asked, const Members& members, int64_t by, const IsRead& is_read) {
  return !is_read(changed(asked, {members.front()}, by)) && is_read(changed(asked, members, by));
}

// As few members as change together, the first one among them; none where it may change alone, or not even
// all of them do. Of so many members that there would be too many sets to try all are taken.
Members fewest(const AskedSizes& asked, const Members& members, const IsRead& is_read) {
  constexpr int kMostReadings = 64;
  const auto by =
      std::ranges::find_if(kSteps, [&](int64_t step) { return must_join(asked, members, step, is_read); });
  if (by == kSteps.end()) return {};
  int readings = 0;
  for (size_t others = 1; others + 1 < members.size(); ++others) {
    // Which of the others are in: from the first ones to the last ones.
    std::vector<char> is_in(members.size() - 1, 0);
    std::fill_n(is_in.begin(), others, 1);
    do {
      Members some{members.front()};
      for (size_t i = 0; i < is_in.size(); ++i)
        if (is_in[i] != 0) some.push_back(members[i + 1]);
      if (is_read(changed(asked, some, *by))) return some;
      if (++readings == kMostReadings) return members;
    } while (std::ranges::prev_permutation(is_in).found);
  }
  return members;
}

}  // namespace

AskedSizes with_joined(const AskedSizes& asked, const IsRead& is_read) {
  AskedSizes joined{{}, asked.shapes};
  std::vector<bool> is_done(asked.dimensions.size(), false);
  for (size_t first = 0; first < asked.dimensions.size(); ++first) {
    if (is_done[first]) continue;
    joined.dimensions.push_back(asked.dimensions[first]);
    Members alike{first};
    for (size_t other = first + 1; other < asked.dimensions.size(); ++other)
      if (!is_done[other] && are_alike(asked.dimensions[first], asked.dimensions[other]))
        alike.push_back(other);
    if (alike.size() == 1) continue;
    for (const size_t member : fewest(asked, alike, is_read)) {
      is_done[member] = true;
      if (member == first) continue;
      const std::vector<NamedAxis>& axes = asked.dimensions[member].axes;
      joined.dimensions.back().axes.insert(joined.dimensions.back().axes.end(), axes.begin(), axes.end());
      joined.dimensions.back().also_called.push_back(asked.dimensions[member].name);
    }
  }
  return joined;
}

}  // namespace lathe
