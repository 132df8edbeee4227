// Given points one after another, for whoever wants each of them measured: a table (session/commands). No row
// of the table of strategies, since a name cannot say which points.
#pragma once

#include <unordered_set>
#include <vector>

#include "search/strategy.h"

namespace lathe {

class Enumeration : public Strategy {
 public:
  // In this order; points in violation are left out.
  Enumeration(SearchSpace space, std::vector<Point> points);

  Proposal propose(int at_most, const Predictor& predictor) override;
  void observe(std::span<const Trial> trials) override;

 private:
  SearchSpace space_;
  std::vector<Point> points_;
  size_t next_ = 0;
  std::unordered_set<uint64_t> done_;  // identities of what was proposed or observed
};

}  // namespace lathe
