#include "search/strategies/enumeration.h"

#include <utility>

namespace lathe {

Enumeration::Enumeration(SearchSpace space, std::vector<Point> points)
    : space_(std::move(space)), points_(std::move(points)) {}

Proposal Enumeration::propose(int at_most, const Predictor&) {
  Proposal proposal;
  for (; next_ < points_.size() && std::ssize(proposal.points) < at_most; ++next_) {
    const Point& point = points_[next_];
    if (space_.legal(point) && done_.insert(space_.identity_of(point)).second)
      proposal.points.push_back(point);
  }
  proposal.exhausted = next_ == points_.size();
  return proposal;
}

void Enumeration::observe(std::span<const Trial> trials) {
  for (const Trial& trial : trials) done_.insert(space_.identity_of(trial.point));
}

}  // namespace lathe
