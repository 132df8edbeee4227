// The strategy `tree-search`: Monte Carlo tree search over the choices of a space
// (search/parts/choice_tree.h), which Bansor names as future work in the place of evolution (section VI). A
// rollout is the best of some random completions, as the model drafts them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/settings.h"
#include "search/strategy.h"

namespace lathe {

struct TreeSearchOptions {
  double exploration = 0.3;  // C
  int completions = 32;      // of a rollout
};
std::vector<Setting<TreeSearchOptions>> tree_search_settings();

std::unique_ptr<Strategy> make_tree_search(SearchSpace space, uint64_t seed,
                                           const TreeSearchOptions& options = {});

}  // namespace lathe
