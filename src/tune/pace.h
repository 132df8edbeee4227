// At what pace the machine runs now. A shared machine is slow for seconds at a time, half again as long for
// the same program was seen; what was measured then must not look worse to the search than what was measured
// before and after. So the program of the shortest measurement is measured again around the batches.
#pragma once

#include <optional>

#include "evaluate/evaluator.h"

namespace lathe {

class Pace {
 public:
  // How many times as long as at its quietest the machine takes for a program now, and took at most.
  double now() const { return now_; }
  double slowest() const { return slowest_; }
  // Measures the fastest program so far once more; nothing where there is none or the watch is over.
  Status take(Evaluator& evaluator, const Watch& watch);
  // A program and what it took, which is compared with from now on where that is the shortest time.
  void offer(const MeasureJob& job, double seconds);

 private:
  // Only what was measured is compared with: a time divided by a pace would, where that is wrong, make every
  // later pace wrong by as much.
  std::optional<MeasureJob> fastest_;
  double shortest_ = 0;  // seconds
  double now_ = 1;
  double slowest_ = 1;
};

}  // namespace lathe
