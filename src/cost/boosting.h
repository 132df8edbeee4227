// Gradient-boosted trees through XGBoost's C interface: the only file pair that knows the library. One
// thread.
#pragma once

#include <span>

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

// From `margin`, one number a candidate, to which the trees are added; empty: from 0. What they predict of a
// candidate is the sum over its rows, without any margin.
Result<FlatTrees> train_trees(const FeatureSet& candidates, const Objective& objective,
                              const BoostingOptions& options, std::span<const double> margin = {});

}  // namespace lathe
