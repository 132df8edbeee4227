#include "cost/tree_network.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace lathe {
namespace {

// Numbers are logarithms of up to some thirty: so they are about as large as states are.
constexpr float kScale = 1.0F / 8;

// The trees of some candidates side by side: a row of numbers for every loop.
struct Rows {
  nn::Forest forest;
  std::vector<size_t> trees;  // which candidate each row is of
  nn::Matrix own;             // [rows, own]
  nn::Matrix buffers;         // [rows * buffers, per_buffer]
};

Rows rows_of(const FeatureSet& candidates, std::span<const size_t> chosen, const TreeRow& shape) {
  Rows rows;
  rows.own.columns = shape.own;
  rows.buffers.columns = shape.per_buffer;
  for (size_t tree = 0; tree < chosen.size(); ++tree) {
    const auto first = static_cast<size_t>(candidates.offsets[chosen[tree]]);
    const auto last = static_cast<size_t>(candidates.offsets[chosen[tree] + 1]);
    const auto root = static_cast<int>(rows.forest.size());
    for (size_t i = first; i < last; ++i) {
      const int parent = candidates.parents[i];
      rows.forest.parents.push_back(parent < 0 ? nn::Forest::kRoot : root + parent);
      rows.trees.push_back(tree);
      const float* numbers = candidates.values.data() + i * static_cast<size_t>(candidates.columns);
      for (size_t k = 0; k < static_cast<size_t>(candidates.columns); ++k)
        (k < shape.own ? rows.own : rows.buffers).values.push_back(kScale * numbers[k]);
    }
  }
  rows.own.rows = rows.forest.size();
  rows.buffers.rows = rows.forest.size() * shape.buffers;
  return rows;
}

}  // namespace

struct TreeNetwork::Kept {
  Rows rows;
  nn::Matrix buffers;  // max(linear, 0), one row a loop and buffer
  nn::TreeGru::Kept unit;
  nn::SoftScatter::Kept scatter;
  nn::Matrix costs;  // [candidates, 1]
};

TreeNetwork::TreeNetwork(const TreeRow& row, size_t states, size_t slots, Rng& rng)
    : row_(row),
      own_(row.own, states, rng),
      buffer_(row.per_buffer, states, rng),
      unit_(states, states, rng),
      scatter_(states, slots, rng),
      last_(states * slots, 1, rng) {}

std::vector<nn::Weights*> TreeNetwork::weights() {
  std::vector<nn::Weights*> all;
  for (const std::vector<nn::Weights*>& some :
       {own_.weights(), buffer_.weights(), unit_.weights(), scatter_.weights(), last_.weights()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

TreeNetwork::Kept TreeNetwork::forward(const FeatureSet& candidates, std::span<const size_t> chosen) const {
  Kept kept;
  kept.rows = rows_of(candidates, chosen, row_);
  nn::Matrix inputs = own_.forward(kept.rows.own);
  kept.buffers = buffer_.forward(kept.rows.buffers);
  nn::rectify(kept.buffers);
  for (size_t i = 0; i < kept.buffers.rows; ++i)
    for (size_t j = 0; j < inputs.columns; ++j) inputs.row(i / row_.buffers)[j] += kept.buffers.row(i)[j];
  kept.unit = unit_.forward_kept(kept.rows.forest, inputs);
  kept.scatter = scatter_.forward(kept.unit.states, kept.rows.trees, chosen.size());
  kept.costs = last_.forward(kept.scatter.outputs);
  return kept;
}

std::vector<float> TreeNetwork::costs(const FeatureSet& candidates, std::span<const size_t> chosen) const {
  return forward(candidates, chosen).costs.values;
}

std::vector<float> TreeNetwork::train(
    const FeatureSet& candidates, std::span<const size_t> chosen,
    const std::function<std::vector<float>(std::span<const float>)>& slope_of) {
  const Kept kept = forward(candidates, chosen);
  const nn::Matrix by_costs{chosen.size(), 1, slope_of(kept.costs.values)};
  const nn::Matrix by_slots = last_.backward(kept.scatter.outputs, by_costs);
  const nn::Matrix by_inputs = unit_.backward(kept.unit, scatter_.backward(kept.scatter, by_slots));
  own_.backward(kept.rows.own, by_inputs);
  nn::Matrix by_buffers = nn::Matrix::zeros(kept.buffers.rows, kept.buffers.columns);
  for (size_t i = 0; i < by_buffers.rows; ++i)
    std::copy_n(by_inputs.row(i / row_.buffers), by_buffers.columns, by_buffers.row(i));
  nn::rectify_slope(kept.buffers, by_buffers);
  buffer_.backward(kept.rows.buffers, by_buffers);
  return kept.costs.values;
}

}  // namespace lathe
