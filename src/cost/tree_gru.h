// The cost model `tree-gru-context` (AutoTVM, section 4, "context encoded TreeGRU", and figure 3d): every
// loop's context becomes its input, a recurrent unit runs from the innermost loops outwards, the states of
// all loops are scattered into slots, and a linear layer gives the cost. It can go from one task to another.
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
  int slots = 8;
  int epochs = 30;     // at most, of one fit, from where the last one ended
  int patience = 6;    // epochs without a gain on the tenth that is held out, after which a fit ends
  int batch = 64;      // candidates of one task between two steps
  double rate = 1e-3;  // of Adam
  int seed = 0;
};
std::vector<Setting<TreeGruOptions>> tree_gru_settings();

// Numbers of a row are those of features/loop_context.h: what is of the loop itself comes first, then three
// of each buffer.
std::unique_ptr<CostModel> make_tree_gru(const TreeGruOptions& options = {});
// What `save` gave; it predicts, and a fit goes on from its weights. An Error names `source`.
Result<std::unique_ptr<CostModel>> load_tree_gru(const SavedModel& saved, const std::string& source);

}  // namespace lathe
