// The cost models `tree-gru` and `tree-gru-context`: a recurrent unit over a program's tree. The first
// (AutoTVM, section 3.1 and figure 3d) learns a row of numbers for each identifier and serves one task. The
// second (section 4, "context encoded TreeGRU") takes every loop's context in its place, scatters the states
// of all loops into slots, and can go from one task to another.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/settings.h"
#include "cost/cost_model.h"
#include "cost/saved_model.h"

namespace lathe {

// `states` and `batch` are the paper's; it leaves the others open.
struct TreeGruOptions {
  std::string objective = "rank";  // cost/objective.h
  int states = 128;
  int slots = 8;       // of the second
  int epochs = 30;     // at most, of one fit, from where the last one ended
  int patience = 6;    // epochs without a gain on the tenth that is held out, after which a fit ends
  int batch = 64;      // candidates of one task between two steps
  double rate = 1e-3;  // of Adam
  int seed = 0;
};
std::vector<Setting<TreeGruOptions>> tree_gru_settings();

// Numbers of a row are those of features/syntax_tree.h, the identifier first.
std::unique_ptr<CostModel> make_tree_gru(const TreeGruOptions& options = {});
// Numbers of a row are those of features/loop_context.h: what is of the loop itself comes first, then three
// of each buffer.
std::unique_ptr<CostModel> make_tree_gru_context(const TreeGruOptions& options = {});
// What `save` gave; it predicts, and a fit goes on from its weights. An Error names `source`.
Result<std::unique_ptr<CostModel>> load_tree_gru(const SavedModel& saved, const std::string& source);

}  // namespace lathe
