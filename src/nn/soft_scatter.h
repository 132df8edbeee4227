// AutoTVM's soft scatter (section 4, "context encoded TreeGRU"): the states of all nodes of a tree, however
// many they are, go into a fixed number of slots, each to each slot by the share that a softmax of its own
// gives:
//   slot_i of a tree = sum over its nodes of softmax(h W)_i * h
#pragma once

#include <cstddef>
#include <vector>

#include "nn/weights.h"

namespace lathe::nn {

class SoftScatter {
 public:
  SoftScatter(size_t states, size_t slots, Rng& rng) : weights_(Weights::drawn(states, slots, rng)) {}

  struct Kept {
    Matrix states;              // [nodes, states]
    Matrix shares;              // [nodes, slots]
    std::vector<size_t> trees;  // which each node is of
    Matrix outputs;             // [trees, slots * states]
  };
  // `trees` says of each node which tree it is of, numbered from 0; there are `count` of them.
  Kept forward(const Matrix& states, const std::vector<size_t>& trees, size_t count) const;
  // From the loss's slope by the outputs: adds to the weights' slopes, gives the slope by the states.
  Matrix backward(const Kept& kept, const Matrix& slope);
  std::vector<Weights*> weights() { return {&weights_}; }

 private:
  Weights weights_;  // [states, slots]
};

}  // namespace lathe::nn
