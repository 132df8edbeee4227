// The scheduler `ucb`: Bansor's choice of a task by an upper confidence bound, formulas (5) and (6), in the
// place of epsilon; with the strategy `bansor` that is the paper's Bansor2.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "search/schedulers/task_gradient.h"
#include "search/task_scheduler.h"

namespace lathe {

struct UcbOptions {
  double exploration = 0.3;  // C, which the paper chose from 0.1, 0.3, 0.5 and 1 on a product of matrices
  // Those of the gradient; its epsilon is not used.
  double alpha = GradientOptions().alpha;
  double beta = GradientOptions().beta;
  int backward_window = GradientOptions().backward_window;
};
std::vector<Setting<UcbOptions>> ucb_settings();

// After one round for each task the one of the greatest bound, ties to that of fewer rounds.
std::unique_ptr<TaskScheduler> make_ucb(const std::vector<ScheduledTask>& tasks, uint64_t seed,
                                        const UcbOptions& options);

}  // namespace lathe
