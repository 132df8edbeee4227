// From rows of features to predicted costs. A model is fitted afresh on all measurements of a run, possibly
// of several tasks, and predicts in batches. It runs on the calling thread only, so that it never disturbs a
// timing, and is deterministic. Not thread-safe while fitting; predict may be called from several threads
// between fits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "cost/prediction.h"

namespace lathe {

// One row a candidate, row after row. NaN: the feature is missing.
struct FeatureMatrix {
  int64_t rows = 0;
  int64_t columns = 0;
  std::vector<float> values;  // rows * columns
};

class CostModel {
 public:
  virtual ~CostModel() = default;

  // Learns from all rows, forgetting what it knew. `seconds` (infinity: failed) and `groups` (any number that
  // names the row's task) have one entry a row. Without two rows of one task that differ in seconds there is
  // nothing to learn: no error, but fitted() is false.
  virtual Status fit(const FeatureMatrix& rows, std::span<const double> seconds,
                     std::span<const int> groups) = 0;
  // One prediction a row; an error before a fit or with another number of columns than fitted.
  virtual Result<Prediction> predict(const FeatureMatrix& rows) const = 0;
  virtual bool fitted() const = 0;
};

}  // namespace lathe
