// The first of two tiers in which points are scored: trees that know a point by its choices alone, of one
// space. They need no program, so that a search can look at many times the points of which it then asks the
// model of programs (Predictor::draft).
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "cost/flat_trees.h"
#include "cost/prediction.h"
#include "domain/domain.h"

namespace lathe {

class DraftModel {
 public:
  explicit DraftModel(std::vector<Domain> sketches);

  // Learns from all points, by ranks, and forgets what it knew; seconds of infinity: it failed. Without two
  // points that differ there is nothing to learn.
  void fit(std::span<const Point> points, std::span<const double> seconds);
  bool fitted() const { return trees_.has_value(); }
  // Costs; call it after a fit that learned something.
  Prediction predict(std::span<const Point> points) const;

 private:
  FeatureSet rows_of(std::span<const Point> points) const;

  std::vector<Domain> sketches_;
  std::optional<FlatTrees> trees_;
};

}  // namespace lathe
