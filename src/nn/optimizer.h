// How weights follow the slopes of a loss. An optimizer keeps what it knows of each weight by its place in
// the list, which must be the same at every step.
#pragma once

#include <span>
#include <vector>

#include "nn/weights.h"

namespace lathe::nn {

// Zeiler 2012: no rate has to be found, since steps are in the unit of the weights.
struct AdaDeltaOptions {
  float rho = 0.9F;  // how much of the past means keep
  float epsilon = 1e-6F;
  float rate = 1;  // 1 in its paper
};

class AdaDelta {
 public:
  explicit AdaDelta(const AdaDeltaOptions& options) : options_(options) {}
  // One step against the slopes, which are cleared.
  void step(std::span<Weights* const> weights);

 private:
  AdaDeltaOptions options_;
  std::vector<std::vector<float>> slopes_;   // running mean of their squares
  std::vector<std::vector<float>> changes_;  // the same of the steps
};

// Kingma and Ba 2015.
struct AdamOptions {
  float rate = 1e-3F;
  float first = 0.9F;     // how much of the past the mean of slopes keeps
  float second = 0.999F;  // and that of their squares
  float epsilon = 1e-8F;
};

class Adam {
 public:
  explicit Adam(const AdamOptions& options) : options_(options) {}
  // One step against the slopes, which are cleared.
  void step(std::span<Weights* const> weights);

 private:
  AdamOptions options_;
  int steps_ = 0;
  std::vector<std::vector<float>> means_;
  std::vector<std::vector<float>> squares_;
};

}  // namespace lathe::nn
