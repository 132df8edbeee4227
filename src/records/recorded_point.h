// Where in a space a trace came from, as its record keeps it: by names, so that it is found again in a space
// whose rules have come to ask in another order, or for more.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "domain/choices.h"

namespace lathe {

struct RecordedPoint {
  std::string space;  // its row in the table of spaces
  std::string sketch;
  Choices choices = {};
  // Of files before version 4, in the place of choices: the integers of a point of the one space that there
  // was, by their places.
  std::vector<int64_t> integers = {};

  bool has_choices() const { return !choices.empty() || !integers.empty(); }
  bool operator==(const RecordedPoint&) const = default;
};

// The column `point` of a records file. What names and texts hold that is no UTF-8 is replaced.
std::string print(const RecordedPoint& point);
// Reads it back, and what files before version 4 hold.
Result<RecordedPoint> parse_point(std::string_view text);

// The integers of the point in the domain of its sketch; what it does not say is as in `preferred`. Nothing
// where it is no point of the domain.
std::optional<std::vector<int64_t>> integers_in(const Domain& domain, const RecordedPoint& point,
                                                const std::vector<int64_t>& preferred);

}  // namespace lathe
