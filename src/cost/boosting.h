// Gradient-boosted trees through XGBoost's C interface: the only file pair that knows the library. One
// thread.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "cost/feature_set.h"
#include "cost/flat_trees.h"
#include "cost/objective.h"

namespace lathe {

// Chosen by tuning runs on synthetic landscapes; a fit of 128 rows of 160 features takes about 50 ms.
struct BoostingOptions {
  int rounds = 40;          // trees
  int depth = 5;            // of a tree
  double eta = 0.2;         // how much of each tree is added
  double gamma = 1e-4;      // least gain of a split
  double child_weight = 1;  // least sum of second derivatives in a leaf
  double lambda = 1;        // L2 regularisation of a leaf
  int bins = 32;  // thresholds tried for a feature: more of them cost time, and gain nothing on few rows
};

// A trained ensemble of trees: what it predicts of a candidate is the sum over its rows. Movable, predicts
// from several threads at once.
class Boosting {
 public:
  // From `margin`, one number a candidate, to which the trees are added; empty: from 0.
  static Result<Boosting> train(const FeatureSet& candidates, const Objective& objective,
                                const BoostingOptions& options, std::span<const double> margin = {});
  // One number a candidate, without any margin.
  Result<std::vector<float>> predict(const FeatureSet& candidates) const;
  // The same trees, which predict the same to within the rounding of their sums.
  Result<FlatTrees> flat(int64_t columns) const;

 private:
  explicit Boosting(std::shared_ptr<void> handle) : handle_(std::move(handle)) {}
  std::shared_ptr<void> handle_;
};

}  // namespace lathe
