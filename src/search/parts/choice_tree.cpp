#include "search/parts/choice_tree.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "domain/domain_split.h"
#include "search/confidence_bound.h"

namespace lathe {
namespace {

// What is left of a split once its innermost factors are chosen: a split into so many parts fewer.
SplitParameter rest_of(const SplitParameter& split, const std::vector<int64_t>& inner) {
  SplitParameter rest = split;
  for (const int64_t factor : inner) rest.extent = (rest.extent - 1) / factor + 1;
  rest.parts -= static_cast<int>(inner.size());
  if (!inner.empty()) rest.largest_innermost = rest.extent;
  return rest;
}

// The value of a parameter whose first choices are given: how many of them it takes is as many as it has.
std::vector<int64_t> value_of(const Parameter& parameter, std::span<const Choice> choices, Rng& rng) {
  if (const auto* split = std::get_if<SplitParameter>(&parameter.kind)) {
    std::vector<int64_t> inner;  // innermost first
    for (const Choice& choice : choices) inner.push_back(choice.front());
    std::vector<int64_t> factors = sample_split(rest_of(*split, inner), rng);
    factors.insert(factors.end(), inner.rbegin(), inner.rend());
    return factors;
  }
  if (!choices.empty()) return choices.front();
  return sample(Domain{{parameter}}, rng);
}

size_t choices_of_parameter(const Parameter& parameter) {
  return std::holds_alternative<SplitParameter>(parameter.kind) ? static_cast<size_t>(parameter.slots()) : 1;
}

}  // namespace

std::vector<Choice> path_to(const SearchSpace& space, const Point& point) {
  std::vector<Choice> path{{point.sketch}};
  auto at = point.integers.begin();
  for (const Parameter& parameter : space.sketches[static_cast<size_t>(point.sketch)].parameters) {
    const auto end = at + parameter.slots();
    if (std::holds_alternative<SplitParameter>(parameter.kind)) {
      for (auto factor = end; factor != at; --factor) path.push_back({*(factor - 1)});
    } else {
      path.emplace_back(at, end);
    }
    at = end;
  }
  return path;
}

Point completed(const SearchSpace& space, const std::vector<Choice>& path, Rng& rng) {
  Point point;
  point.sketch = static_cast<int>(path.empty() ? rng.below(space.sketches.size())
                                               : static_cast<uint64_t>(path.front().front()));
  std::span<const Choice> left(path);
  if (!left.empty()) left = left.subspan(1);
  for (const Parameter& parameter : space.sketches[static_cast<size_t>(point.sketch)].parameters) {
    const size_t own = std::min(left.size(), choices_of_parameter(parameter));
    const std::vector<int64_t> value = value_of(parameter, left.first(own), rng);
    point.integers.insert(point.integers.end(), value.begin(), value.end());
    left = left.subspan(own);
  }
  return point;
}

double tree_bound(double best, double seconds, double visits, double parent_visits, double exploration) {
  const double reward = seconds > 0 ? best / seconds : 0;
  return confidence_bound(reward, visits, parent_visits, exploration);
}

bool ChoiceTree::may_grow(const Node& node) const {
  return static_cast<double>(node.children.size()) < std::max(2.0, std::sqrt(node.visits));
}

std::vector<Choice> ChoiceTree::select() const {
  std::vector<Choice> path;
  const Node* node = &nodes_[0];
  while (!may_grow(*node)) {
    const Choice* best = nullptr;
    double highest = 0;
    for (const auto& [choice, place] : node->children) {
      const Node& child = nodes_[place];
      if (child.closed) continue;
      const double bound =
          tree_bound(nodes_[0].best_seconds, child.best_seconds, child.visits, node->visits, exploration_);
      if (best != nullptr && bound <= highest) continue;
      best = &choice;
      highest = bound;
    }
    if (best == nullptr) return path;  // all children are closed: another one is asked for
    path.push_back(*best);
    node = &nodes_[node->children.at(*best)];
  }
  return path;
}

bool ChoiceTree::has_child(const std::vector<Choice>& path, const Choice& choice) const {
  size_t place = 0;
  for (const Choice& each : path) place = nodes_[place].children.at(each);
  return nodes_[place].children.contains(choice);
}

void ChoiceTree::visit(const std::vector<Choice>& whole, size_t depth) {
  LATHE_CHECK(depth <= whole.size());
  size_t place = 0;
  nodes_[place].visits += 1;
  for (size_t i = 0; i < depth; ++i) {
    const auto [child, is_new] = nodes_[place].children.try_emplace(whole[i], nodes_.size());
    place = child->second;
    if (is_new) nodes_.emplace_back();
    nodes_[place].visits += 1;
  }
}

void ChoiceTree::close(const std::vector<Choice>& path) {
  size_t place = 0;
  for (const Choice& each : path) place = nodes_[place].children.at(each);
  nodes_[place].closed = true;
}

void ChoiceTree::record(const std::vector<Choice>& whole, double seconds) {
  size_t place = 0;
  for (size_t i = 0;; ++i) {
    double& best = nodes_[place].best_seconds;
    if (best == 0 || seconds < best) best = seconds;
    if (i == whole.size()) return;
    const auto child = nodes_[place].children.find(whole[i]);
    if (child == nodes_[place].children.end()) return;
    place = child->second;
  }
}

}  // namespace lathe
