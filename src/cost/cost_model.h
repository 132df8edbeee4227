// From features to predicted costs. A model is fitted afresh on all measurements of a run, possibly of
// several tasks, and predicts in batches. It runs on the calling thread only, so that it never disturbs a
// timing, and is deterministic. Not thread-safe while fitting; predict may be called from several threads
// between fits.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "cost/feature_set.h"
#include "cost/prediction.h"

namespace lathe {

// What was measured, one entry a candidate.
struct CostSamples {
  FeatureSet features = {};
  std::vector<double> seconds;  // infinity: failed
  std::vector<int> tasks;       // any number that names the candidate's task

  int64_t size() const { return features.size(); }
};

class CostModel {
 public:
  virtual ~CostModel() = default;

  // Of which kind the features must be that it is fitted on and predicts from.
  virtual FeatureKind wants() const = 0;
  // Learns from all samples, forgetting what it knew. Where `margin` is not empty it has one cost a sample,
  // as another model predicts it, and this one learns what is to be added. Without two samples of one task
  // that differ in seconds there is nothing to learn: no error, but fitted() is false.
  virtual Status fit(const CostSamples& samples, std::span<const double> margin) = 0;
  Status fit(const CostSamples& samples) { return fit(samples, {}); }
  // One prediction a candidate; an error before a fit or with another number of columns than fitted.
  virtual Result<Prediction> predict(const FeatureSet& candidates) const = 0;
  virtual bool fitted() const = 0;
  // The fitted model, for load_cost_model (cost/all.h); an Error where nothing is fitted, or models of its
  // kind cannot be kept.
  virtual Result<std::string> save() const {
    return fail(ErrorKind::unsupported, "cost models of this kind cannot be kept");
  }
};

}  // namespace lathe
