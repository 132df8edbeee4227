// A space as a tree of choices: first the sketch, then its parameters in their declared order, the factors of
// a split one by one from the innermost. Visits and best times of its nodes, and where to go by an upper
// confidence bound: UCT (Kocsis and Szepesvari 2006) with rewards relative to the best.
#pragma once

#include <map>
#include <vector>

#include "domain/domain.h"
#include "search/search_space.h"

namespace lathe {

// One choice of a path: {sketch}, an ordered or categorical parameter's {index}, a split's {factor}, a
// permutation.
using Choice = std::vector<int64_t>;

// The choices that lead to the point.
std::vector<Choice> path_to(const SearchSpace& space, const Point& point);
// A random point whose path begins with these choices, which some point's does.
Point completed(const SearchSpace& space, const std::vector<Choice>& path, Rng& rng);

// best / seconds + exploration * sqrt(2 ln(parent's visits) / visits); 0 for the first term where nothing was
// measured.
double tree_bound(double best, double seconds, double visits, double parent_visits, double exploration);

class ChoiceTree {
 public:
  explicit ChoiceTree(double exploration) : exploration_(exploration) { nodes_.emplace_back(); }

  // A path from the root to a node that may have another child. A node may have more children the more often
  // it was visited: sqrt(visits) of them, two at least.
  std::vector<Choice> select() const;
  // Whether the path's node has this child.
  bool has_child(const std::vector<Choice>& path, const Choice& choice) const;
  // Adds the node below the path that the whole path leads through, and counts a visit of all nodes of it.
  void visit(const std::vector<Choice>& whole, size_t depth);
  // Nothing is left below this path, which is not the root's: it is not selected any more.
  void close(const std::vector<Choice>& path);
  // The time of what lies at the end of the path, to all nodes that there are along it.
  void record(const std::vector<Choice>& whole, double seconds);

 private:
  struct Node {
    std::map<Choice, size_t> children;  // their places in nodes_
    double visits = 0;
    double best_seconds = 0;  // 0: none yet
    bool closed = false;
  };
  bool may_grow(const Node& node) const;

  double exploration_;
  std::vector<Node> nodes_;  // the root first
};

}  // namespace lathe
