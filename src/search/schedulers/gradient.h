// The schedulers that follow Bansor's formula (2), epsilon-greedy: `gradient` exactly, `gradient-patient`
// with hopes that fade.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "search/schedulers/task_gradient.h"
#include "search/task_scheduler.h"

namespace lathe {

// After one round for each task the one of the steepest gradient, ties to that of fewer rounds.
std::unique_ptr<TaskScheduler> make_gradient(const std::vector<ScheduledTask>& tasks, uint64_t seed,
                                             const GradientOptions& options);

// What a similar task reached counts for less with every round that gains nothing: by the formula alone a
// hope that nothing comes of takes the rounds of all others.
std::unique_ptr<TaskScheduler> make_gradient_patient(const std::vector<ScheduledTask>& tasks, uint64_t seed,
                                                     const GradientOptions& options);

}  // namespace lathe
