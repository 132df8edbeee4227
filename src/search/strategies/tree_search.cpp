#include "search/strategies/tree_search.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_set>
#include <utility>

#include "search/parts/choice_tree.h"
#include "search/sampler.h"

namespace lathe {
namespace {

constexpr int kTriesPerPoint = 8;  // at rollouts that give none, until a random point takes its place

class TreeSearch : public Strategy {
 public:
  TreeSearch(SearchSpace space, uint64_t seed, const TreeSearchOptions& options)
      : space_(std::move(space)),
        options_(options),
        sampler_(space_, Rng(seed)),
        tree_(options.exploration) {}

  Proposal propose(int at_most, const Predictor& predictor) override {
    Proposal proposal;
    while (std::ssize(proposal.points) < at_most) {
      std::optional<Point> point;
      for (int tries = 0; !point && tries < kTriesPerPoint; ++tries) point = rollout(predictor);
      if (!point) point = sampler_.draw();
      if (!point) {
        proposal.exhausted = true;
        break;
      }
      proposal.points.push_back(std::move(*point));
    }
    return proposal;
  }

  void observe(std::span<const Trial> trials) override {
    for (const Trial& trial : trials) {
      sampler_.use(trial.point);
      if (std::isfinite(trial.seconds) && space_.legal(trial.point))
        tree_.record(path_to(space_, trial.point), trial.seconds);
    }
  }

 private:
  // The best completion of a path, whose next choice the tree has afterwards; closes the path where there is
  // none.
  std::optional<Point> rollout(const Predictor& predictor) {
    const std::vector<Choice> path = tree_.select();
    std::vector<Point> points = completions(path);
    if (points.empty()) {
      // Of all points together so few may be legal that some completions tell nothing of the others.
      if (!path.empty()) tree_.close(path);
      return std::nullopt;
    }
    // Where some completion leads to a child that is not there, those alone are chosen from.
    const auto known = [&](const Point& point) {
      const std::vector<Choice> whole = path_to(space_, point);
      return whole.size() == path.size() || tree_.has_child(path, whole[path.size()]);
    };
    if (!std::ranges::all_of(points, known)) std::erase_if(points, known);
    const size_t best = best_of(points, predictor);
    sampler_.use(points[best]);
    const std::vector<Choice> whole = path_to(space_, points[best]);
    tree_.visit(whole, std::min(whole.size(), path.size() + 1));
    return points[best];
  }

  std::vector<Point> completions(const std::vector<Choice>& path) {
    std::vector<Point> points;
    std::unordered_set<uint64_t> met;
    for (int i = 0; i < options_.completions; ++i) {
      Point point = completed(space_, path, sampler_.rng());
      if (sampler_.used(point) || !met.insert(space_.identity_of(point)).second) continue;
      if (!space_.violation || !space_.violation(point)) points.push_back(std::move(point));
    }
    return points;
  }

  size_t best_of(const std::vector<Point>& points, const Predictor& predictor) const {
    if (!predictor) return 0;
    const Predictor drafting{predictor.draft ? predictor.draft : predictor.full, {}};
    const std::vector<double> costs = mean_costs(drafting, points);
    return static_cast<size_t>(std::ranges::min_element(costs) - costs.begin());
  }

  SearchSpace space_;
  TreeSearchOptions options_;
  Sampler sampler_;
  ChoiceTree tree_;
};

}  // namespace

std::vector<Setting<TreeSearchOptions>> tree_search_settings() {
  return {{"exploration", &TreeSearchOptions::exploration, 0, 1000},
          {"completions", &TreeSearchOptions::completions, 1, 1e5}};
}

std::unique_ptr<Strategy> make_tree_search(SearchSpace space, uint64_t seed,
                                           const TreeSearchOptions& options) {
  return std::make_unique<TreeSearch>(std::move(space), seed, options);
}

}  // namespace lathe
