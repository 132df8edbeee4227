#include "nn/tree_gru.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"

namespace lathe::nn {
namespace {

std::vector<TreeLevel> levels_of(const Forest& forest) {
  const size_t nodes = forest.size();
  std::vector<size_t> heights(nodes, 0);
  std::vector<size_t> children(nodes, 0);
  size_t highest = 0;
  // Parents come before their children, so that from the back every child is done before its parent.
  for (size_t node = nodes; node-- > 0;) {
    highest = std::max(highest, heights[node]);
    if (forest.parents[node] == Forest::kRoot) continue;
    const auto parent = static_cast<size_t>(forest.parents[node]);
    LATHE_CHECK(parent < node);
    heights[parent] = std::max(heights[parent], heights[node] + 1);
    ++children[parent];
  }
  std::vector<TreeLevel> levels(nodes == 0 ? 0 : highest + 1);
  std::vector<size_t> places(nodes);
  for (size_t node = 0; node < nodes; ++node) {
    TreeLevel& level = levels[heights[node]];
    places[node] = level.nodes.size();
    level.nodes.push_back(node);
    level.shares.push_back(children[node] > 0 ? 1 / static_cast<float>(children[node]) : 0);
  }
  for (size_t node = 0; node < nodes; ++node) {
    if (forest.parents[node] == Forest::kRoot) continue;
    const auto parent = static_cast<size_t>(forest.parents[node]);
    TreeLevel& level = levels[heights[parent]];
    level.edge_nodes.push_back(places[parent]);
    level.edge_children.push_back(node);
  }
  return levels;
}

Matrix gathered(const Matrix& from, const std::vector<size_t>& rows) {
  Matrix to = Matrix::zeros(rows.size(), from.columns);
  for (size_t i = 0; i < rows.size(); ++i) std::copy_n(from.row(rows[i]), from.columns, to.row(i));
  return to;
}

void add_row(const float* from, float scale, size_t columns, float* to) {
  for (size_t j = 0; j < columns; ++j) to[j] += scale * from[j];
}

// To each node of the level its children's rows, times its share.
Matrix means_of(const TreeLevel& level, const Matrix& of_edges) {
  Matrix means = Matrix::zeros(level.nodes.size(), of_edges.columns);
  for (size_t e = 0; e < level.edge_nodes.size(); ++e)
    add_row(of_edges.row(e), level.shares[level.edge_nodes[e]], means.columns,
            means.row(level.edge_nodes[e]));
  return means;
}

// To each edge of the level its node's row, times the node's share.
Matrix shared_out(const TreeLevel& level, const Matrix& of_nodes) {
  Matrix edges = Matrix::zeros(level.edge_nodes.size(), of_nodes.columns);
  for (size_t e = 0; e < edges.rows; ++e)
    add_row(of_nodes.row(level.edge_nodes[e]), level.shares[level.edge_nodes[e]], edges.columns,
            edges.row(e));
  return edges;
}

void squash(Matrix& values) {
  for (float& value : values.values) value = 1 / (1 + std::exp(-value));
}

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix result = a;
  for (size_t i = 0; i < result.values.size(); ++i) result.values[i] *= b.values[i];
  return result;
}

}  // namespace

TreeGru::TreeGru(size_t inputs, size_t states, Rng& rng)
    : update_(inputs, states, rng),
      reset_(inputs, states, rng),
      candidate_(inputs, states, rng),
      update_state_(Weights::drawn(states, states, rng)),
      reset_state_(Weights::drawn(states, states, rng)),
      candidate_state_(Weights::drawn(states, states, rng)) {}

std::vector<Weights*> TreeGru::weights() {
  std::vector<Weights*> all;
  for (Dense* dense : {&update_, &reset_, &candidate_})
    for (Weights* each : dense->weights()) all.push_back(each);
  all.insert(all.end(), {&update_state_, &reset_state_, &candidate_state_});
  return all;
}

Matrix TreeGru::forward(const Forest& forest, const Matrix& inputs) const {
  return forward_kept(forest, inputs).states;
}

TreeGru::Kept TreeGru::forward_kept(const Forest& forest, const Matrix& inputs) const {
  LATHE_CHECK(inputs.rows == forest.size());
  Kept kept;
  kept.inputs = inputs;
  kept.levels = levels_of(forest);
  const Matrix update_inputs = update_.forward(inputs);
  const Matrix reset_inputs = reset_.forward(inputs);
  const Matrix candidate_inputs = candidate_.forward(inputs);
  kept.states = Matrix::zeros(inputs.rows, update_inputs.columns);
  for (const TreeLevel& level : kept.levels) {
    Matrix children = gathered(kept.states, level.edge_children);
    std::vector<size_t> nodes_of_edges;
    for (const size_t place : level.edge_nodes) nodes_of_edges.push_back(level.nodes[place]);
    Matrix resets = gathered(reset_inputs, nodes_of_edges);
    add_product(children, reset_state_.value, resets);
    squash(resets);
    Matrix candidates = gathered(candidate_inputs, level.nodes);
    add_product(means_of(level, product(resets, children)), candidate_state_.value, candidates);
    for (float& value : candidates.values) value = std::tanh(value);
    Matrix means = means_of(level, children);
    Matrix updates = gathered(update_inputs, level.nodes);
    add_product(means, update_state_.value, updates);
    squash(updates);
    for (size_t i = 0; i < level.nodes.size(); ++i) {
      float* state = kept.states.row(level.nodes[i]);
      for (size_t j = 0; j < kept.states.columns; ++j)
        state[j] = updates.row(i)[j] * means.row(i)[j] + (1 - updates.row(i)[j]) * candidates.row(i)[j];
    }
    kept.children.push_back(std::move(children));
    kept.resets.push_back(std::move(resets));
    kept.candidates.push_back(std::move(candidates));
    kept.means.push_back(std::move(means));
    kept.updates.push_back(std::move(updates));
  }
  return kept;
}

Matrix TreeGru::backward(const Kept& kept, Matrix slope) {
  const size_t columns = slope.columns;
  Matrix by_update = Matrix::zeros(slope.rows, columns);     // of what z is the sigmoid of
  Matrix by_reset = Matrix::zeros(slope.rows, columns);      // r_c
  Matrix by_candidate = Matrix::zeros(slope.rows, columns);  // n
  for (size_t l = kept.levels.size(); l-- > 0;) {
    const TreeLevel& level = kept.levels[l];
    Matrix update = Matrix::zeros(level.nodes.size(), columns);
    Matrix candidate = update;
    Matrix mean = update;
    for (size_t i = 0; i < level.nodes.size(); ++i) {
      const float* by_state = slope.row(level.nodes[i]);
      for (size_t j = 0; j < columns; ++j) {
        const float z = kept.updates[l].row(i)[j];
        const float n = kept.candidates[l].row(i)[j];
        update.row(i)[j] = by_state[j] * (kept.means[l].row(i)[j] - n) * z * (1 - z);
        candidate.row(i)[j] = by_state[j] * (1 - z) * (1 - n * n);
        mean.row(i)[j] = by_state[j] * z;
      }
      add_row(update.row(i), 1, columns, by_update.row(level.nodes[i]));
      add_row(candidate.row(i), 1, columns, by_candidate.row(level.nodes[i]));
    }
    if (level.edge_nodes.empty()) continue;
    const Matrix& children = kept.children[l];
    const Matrix& resets = kept.resets[l];
    add_product_of_transposed(kept.means[l], update, update_state_.slope);
    add_product_with_transposed(update, update_state_.value, mean);
    add_product_of_transposed(means_of(level, product(resets, children)), candidate, candidate_state_.slope);
    Matrix by_means = Matrix::zeros(level.nodes.size(), columns);  // of r_c * h_c
    add_product_with_transposed(candidate, candidate_state_.value, by_means);
    const Matrix by_products = shared_out(level, by_means);
    Matrix reset = product(by_products, children);
    for (size_t i = 0; i < reset.values.size(); ++i)
      reset.values[i] *= resets.values[i] * (1 - resets.values[i]);
    add_product_of_transposed(children, reset, reset_state_.slope);
    Matrix by_children = product(by_products, resets);
    add_product_with_transposed(reset, reset_state_.value, by_children);
    const Matrix of_means = shared_out(level, mean);
    for (size_t e = 0; e < level.edge_nodes.size(); ++e) {
      add_row(reset.row(e), 1, columns, by_reset.row(level.nodes[level.edge_nodes[e]]));
      add_row(of_means.row(e), 1, columns, by_children.row(e));
      add_row(by_children.row(e), 1, columns, slope.row(level.edge_children[e]));
    }
  }
  Matrix by_inputs = update_.backward(kept.inputs, by_update);
  const Matrix more[] = {reset_.backward(kept.inputs, by_reset),
                         candidate_.backward(kept.inputs, by_candidate)};
  for (const Matrix& each : more)
    for (size_t i = 0; i < by_inputs.values.size(); ++i) by_inputs.values[i] += each.values[i];
  return by_inputs;
}

}  // namespace lathe::nn
