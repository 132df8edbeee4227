// A gated recurrent unit over trees, from the leaves up (AutoTVM, section 3.1, "TreeGRU"). The paper leaves
// the cell open; here, of a node with input x and the states h_c of its children, hbar their mean (0 for a
// leaf):
//   z = sigmoid(x Wz + bz + hbar Uz)              r_c = sigmoid(x Wr + br + h_c Ur)
//   n = tanh(x Wn + bn + mean_c (r_c * h_c) Un)     h = z * hbar + (1 - z) * n
// Many trees at once: all nodes of one height are one product.
#pragma once

#include <cstddef>
#include <vector>

#include "nn/dense.h"

namespace lathe::nn {

// Trees side by side. A node's parent comes before it, or is kRoot.
struct Forest {
  static constexpr int kRoot = -1;
  std::vector<int> parents;

  size_t size() const { return parents.size(); }
};

class TreeGru {
 public:
  TreeGru(size_t inputs, size_t states, Rng& rng);

  // What `backward` wants of a forward pass.
  struct Kept;
  // [nodes, inputs] -> [nodes, states].
  Matrix forward(const Forest& forest, const Matrix& inputs) const;
  Kept forward_kept(const Forest& forest, const Matrix& inputs) const;
  // From the loss's slope by every node's state: adds to the weights' slopes, gives the slope by the inputs.
  Matrix backward(const Kept& kept, Matrix slope);
  std::vector<Weights*> weights();

 private:
  Dense update_;     // Wz, bz
  Dense reset_;      // Wr, br
  Dense candidate_;  // Wn, bn
  Weights update_state_;
  Weights reset_state_;
  Weights candidate_state_;
};

// The nodes of one height, and the edges from them to their children.
struct TreeLevel {
  std::vector<size_t> nodes;
  std::vector<size_t> edge_nodes;     // places in `nodes`
  std::vector<size_t> edge_children;  // nodes of the forest
  std::vector<float> shares;          // 1 / the number of children, one a place in `nodes`
};

struct TreeGru::Kept {
  Matrix inputs;
  Matrix states;                  // of all nodes
  std::vector<TreeLevel> levels;  // leaves first
  // One each for every level, rows as in its nodes or edges.
  std::vector<Matrix> means;       // hbar
  std::vector<Matrix> updates;     // z
  std::vector<Matrix> candidates;  // n
  std::vector<Matrix> children;    // h_c
  std::vector<Matrix> resets;      // r_c
};

}  // namespace lathe::nn
