// Who to try next, by ask and tell: `propose` names points, the caller measures them, `observe` hears the
// outcome. A strategy sees integers and predicted costs only. It has no clock and no threads, and its random
// numbers come from its seed: the same seed and the same observations give the same proposals on every
// machine. Not thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "search/predictor.h"
#include "search/search_space.h"

namespace lathe {

struct Trial {
  Point point;
  double seconds = 0;    // infinity: failed
  double deviation = 0;  // of one of the samples that `seconds` comes from; 0 where it is not known
  int samples = 1;
};

struct Proposal {
  std::vector<Point> points;
  bool exhausted = false;  // nothing is left to propose, now or later, as far as the strategy can tell
};

class Strategy {
 public:
  virtual ~Strategy() = default;

  // At most `at_most` legal points, none of them proposed or observed before. A strategy that goes step by
  // step may name fewer than it is asked for; none at all only where it is exhausted.
  virtual Proposal propose(int at_most, const Predictor& predictor) = 0;
  // Outcomes of proposed points, or of earlier runs: those are then never proposed.
  virtual void observe(std::span<const Trial> trials) = 0;
  // How many points it wants measured between two fits of the model, as a paper fixes it; 0: whatever the
  // caller likes.
  virtual int batch() const { return 0; }
  // How many points count as one trial, where searches are compared by trials.
  virtual int measured_per_trial() const { return 1; }
};

}  // namespace lathe
