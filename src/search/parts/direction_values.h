// FlexTensor's network X and its target Y (section 5.1): what each direction from a point of one sketch is
// worth.
#pragma once

#include <cstdint>
#include <vector>

#include "domain/domain_direction.h"
#include "nn/optimizer.h"
#include "nn/perceptron.h"

namespace lathe {

// What the paper leaves open has its public code's values, where that has any.
struct DirectionValueOptions {
  int width = 64;         // of the three hidden layers
  double discount = 0.9;  // alpha
  int passes = 20;        // over what is remembered, at each training
  int memory = 1000;      // the newest moves that are remembered
  double rate = 0.02;     // of AdaDelta
};

// A move from one point of the sketch to the next.
struct Move {
  std::vector<int64_t> from;
  size_t direction = 0;  // its place among the sketch's directions
  std::vector<int64_t> to;
  double reward = 0;  // (E_to - E_from) / E_from
};

// alpha * max Y(to) + reward: what X is to say of the move.
double direction_target(double discount, double best_next, double reward);

class DirectionValues {
 public:
  DirectionValues(const Domain& domain, const DirectionValueOptions& options, Rng rng);

  const std::vector<Direction>& directions() const { return directions_; }
  // X of the point: one number a direction.
  std::vector<float> of(const std::vector<int64_t>& point) const;
  void remember(Move move);
  // Minimises (X(from)[direction] - target)^2 over what is remembered, then sets Y to X. The mean of that
  // loss in the last pass; 0 where nothing is remembered.
  double train();

 private:
  double train_batch(const std::vector<size_t>& batch);
  nn::Matrix encoded_rows(const std::vector<const std::vector<int64_t>*>& points) const;

  Domain domain_;
  DirectionValueOptions options_;
  Rng rng_;
  std::vector<Direction> directions_;
  nn::Perceptron network_;  // X
  nn::Perceptron target_;   // Y
  nn::AdaDelta optimizer_;
  std::vector<Move> moves_;  // a ring of `memory` moves
  size_t oldest_ = 0;
};

}  // namespace lathe
