#include "cost/syntax_network.h"

#include <utility>

#include "base/check.h"

namespace lathe {
namespace {

// The trees of some candidates side by side.
struct SyntaxRows {
  nn::Forest forest;
  std::vector<size_t> identifiers;
  nn::Matrix others;
  std::vector<std::pair<size_t, size_t>> roots;  // each root's node and candidate
};

SyntaxRows rows_of(const FeatureSet& candidates, std::span<const size_t> chosen, size_t others) {
  SyntaxRows rows;
  rows.others.columns = others;
  for (size_t tree = 0; tree < chosen.size(); ++tree) {
    const auto first = static_cast<size_t>(candidates.offsets[chosen[tree]]);
    const auto last = static_cast<size_t>(candidates.offsets[chosen[tree] + 1]);
    const auto begin = static_cast<int>(rows.forest.size());
    for (size_t i = first; i < last; ++i) {
      const int parent = candidates.parents[i];
      if (parent < 0) rows.roots.emplace_back(rows.forest.size(), tree);
      rows.forest.parents.push_back(parent < 0 ? nn::Forest::kRoot : begin + parent);
      const float* numbers = candidates.values.data() + i * static_cast<size_t>(candidates.columns);
      rows.identifiers.push_back(static_cast<size_t>(numbers[0]));
      rows.others.values.insert(rows.others.values.end(), numbers + 1, numbers + 1 + others);
    }
  }
  rows.others.rows = rows.forest.size();
  return rows;
}

}  // namespace

struct SyntaxNetwork::Kept {
  SyntaxRows rows;
  nn::TreeGru::Kept unit;
  nn::Matrix sums;   // of the roots' states, [candidates, states]
  nn::Matrix costs;  // [candidates, 1]
};

SyntaxNetwork::SyntaxNetwork(size_t identifiers, size_t others, size_t states, Rng& rng)
    : others_(others),
      identifiers_(identifiers, states, rng),
      own_(others, states, rng),
      unit_(states, states, rng),
      last_(states, 1, rng) {}

std::vector<nn::Weights*> SyntaxNetwork::weights() {
  std::vector<nn::Weights*> all;
  for (const std::vector<nn::Weights*>& some :
       {identifiers_.weights(), own_.weights(), unit_.weights(), last_.weights()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

SyntaxNetwork::Kept SyntaxNetwork::forward(const FeatureSet& candidates,
                                           std::span<const size_t> chosen) const {
  LATHE_CHECK(std::cmp_equal(candidates.columns, others_ + 1));
  Kept kept;
  kept.rows = rows_of(candidates, chosen, others_);
  nn::Matrix inputs = own_.forward(kept.rows.others);
  const nn::Matrix named = identifiers_.forward(kept.rows.identifiers);
  for (size_t i = 0; i < inputs.values.size(); ++i) inputs.values[i] += named.values[i];
  kept.unit = unit_.forward_kept(kept.rows.forest, inputs);
  kept.sums = nn::Matrix::zeros(chosen.size(), inputs.columns);
  for (const auto& [node, tree] : kept.rows.roots)
    for (size_t j = 0; j < kept.sums.columns; ++j) kept.sums.row(tree)[j] += kept.unit.states.row(node)[j];
  kept.costs = last_.forward(kept.sums);
  return kept;
}

std::vector<float> SyntaxNetwork::costs(const FeatureSet& candidates, std::span<const size_t> chosen) const {
  return forward(candidates, chosen).costs.values;
}

std::vector<float> SyntaxNetwork::train(
    const FeatureSet& candidates, std::span<const size_t> chosen,
    const std::function<std::vector<float>(std::span<const float>)>& slope_of) {
  const Kept kept = forward(candidates, chosen);
  const nn::Matrix by_costs{chosen.size(), 1, slope_of(kept.costs.values)};
  const nn::Matrix by_sums = last_.backward(kept.sums, by_costs);
  nn::Matrix by_states = nn::Matrix::zeros(kept.unit.states.rows, kept.unit.states.columns);
  for (const auto& [node, tree] : kept.rows.roots)
    for (size_t j = 0; j < by_states.columns; ++j) by_states.row(node)[j] = by_sums.row(tree)[j];
  const nn::Matrix by_inputs = unit_.backward(kept.unit, std::move(by_states));
  own_.backward(kept.rows.others, by_inputs);
  identifiers_.backward(kept.rows.identifiers, by_inputs);
  return kept.costs.values;
}

}  // namespace lathe
