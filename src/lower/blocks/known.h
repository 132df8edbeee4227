// What is known of loop variables at one place of a program: their ranges, and upper bounds of sums of them
// that loop extents and conditions around the place give. Copied on the way down a tree; small, searched
// linearly.
#pragma once

#include <utility>
#include <vector>

#include "loop/loop.h"

namespace lathe {

class Known {
 public:
  Known() = default;
  explicit Known(Ranges ranges) : ranges_(std::move(ranges)) {}

  // Inside the loop: its variable's range, and `var < extent` for each extent that is no constant.
  void enter(const For& loop);
  // From here on the conjunct holds. Nothing follows of one with tail=pad, which may go: it only saves work.
  void assume(const Conjunct& conjunct);

  // Proved: value <= limit. One fact beside the ranges is used.
  bool at_most(const Affine& value, int64_t limit) const;
  bool holds(const Conjunct& c) const { return at_most(c.value, c.bound - 1); }
  bool fails(const Conjunct& c) const { return at_most(c.value * -1, -c.bound); }
  const Ranges& ranges() const { return ranges_; }

 private:
  struct Fact {
    Affine form;  // form <= limit
    int64_t limit;
  };
  Ranges ranges_;
  std::vector<Fact> facts_;
};

}  // namespace lathe
