// The network of `tree-gru` (AutoTVM, section 3.1 and figure 3d): every identifier of a program's syntax tree
// has a learned row of numbers, a recurrent unit runs from the leaves to the roots, and a linear layer makes
// the roots' states a cost. It serves the task that it was trained on.
#pragma once

#include "cost/cost_network.h"
#include "nn/dense.h"
#include "nn/embedding.h"
#include "nn/tree_gru.h"

namespace lathe {

class SyntaxNetwork : public CostNetwork {
 public:
  // A row is an identifier's number, below `identifiers`, and `others` more (features/syntax_tree.h).
  SyntaxNetwork(size_t identifiers, size_t others, size_t states, Rng& rng);

  std::vector<float> costs(const FeatureSet& candidates, std::span<const size_t> chosen) const override;
  std::vector<float> train(
      const FeatureSet& candidates, std::span<const size_t> chosen,
      const std::function<std::vector<float>(std::span<const float>)>& slope_of) override;
  std::vector<nn::Weights*> weights() override;
  std::unique_ptr<CostNetwork> copy() const override { return std::make_unique<SyntaxNetwork>(*this); }

 private:
  struct Kept;
  Kept forward(const FeatureSet& candidates, std::span<const size_t> chosen) const;

  size_t others_;
  nn::Embedding identifiers_;
  nn::Dense own_;
  nn::TreeGru unit_;
  nn::Dense last_;
};

}  // namespace lathe
