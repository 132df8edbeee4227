#include "search/strategies/enumeration.h"

#include <gtest/gtest.h>

namespace lathe {
namespace {

Point at(int64_t place) { return {0, {place}}; }

SearchSpace places(int64_t count) {
  SearchSpace space;
  std::vector<int64_t> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(i + 1);
  space.sketches = {Domain{{{"place", OrderedParameter{values}}}}};
  space.sketch_names = {"places"};
  return space;
}

TEST(Enumeration, NamesEachPointOnceInTheGivenOrder) {
  Enumeration all(places(5), {at(3), at(0), at(3), at(4)});
  EXPECT_EQ(all.propose(2, {}).points, (std::vector<Point>{at(3), at(0)}));
  const Proposal rest = all.propose(2, {});
  EXPECT_EQ(rest.points, std::vector<Point>{at(4)});
  EXPECT_TRUE(rest.exhausted);
  EXPECT_TRUE(all.propose(2, {}).points.empty());
}

TEST(Enumeration, LeavesOutWhatWasObservedOrMustNotBeTriedOrIsTheSameProgram) {
  SearchSpace space = places(6);
  space.violation = [](const Point& point) {
    return point.integers[0] == 1 ? std::optional<std::string>("odd") : std::nullopt;
  };
  space.identity = [](const Point& point) { return static_cast<uint64_t>(point.integers[0] / 2); };
  Enumeration all(space, {at(0), at(1), at(2), at(3), at(4), at(5)});
  all.observe(std::vector<Trial>{{at(5), 1.0}});
  EXPECT_EQ(all.propose(9, {}).points, (std::vector<Point>{at(0), at(2)}));
}

}  // namespace
}  // namespace lathe
