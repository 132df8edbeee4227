// Which sketches are worth further trials: an upper confidence bound on what each can still reach, after
// Bansor's choice of a sketch for each round (bandits over Ansor's tasks and sketches). A sketch is in play
// while its bound reaches the best sketch:
//   r(i) + C sqrt(2 ln N / n(i)) >= 1,   r(i) = best seconds of all / best seconds of i,
// n(i) trials of the sketch among N. So an algorithm that is three times slower gets a trial or two, one that
// is a tenth slower many, and as N grows every sketch comes back now and then. Here trials are counted and
// not rounds, and all sketches in play share a batch: with a few dozen trials in all, rounds are too coarse.
#pragma once

#include <span>
#include <vector>

#include "search/strategy.h"

namespace lathe {

class SketchBandit {
 public:
  explicit SketchBandit(size_t sketches) : arms_(sketches) {}

  void observe(std::span<const Trial> trials);
  // One entry a sketch; the best one is always in play, and so is one that was not tried.
  std::vector<bool> in_play() const;

 private:
  struct Arm {
    int trials = 0;
    int failures = 0;
    double seconds = 0;  // the best; 0: none yet
  };
  std::vector<Arm> arms_;
  int trials_ = 0;
};

}  // namespace lathe
