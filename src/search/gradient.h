// The scheduler `gradient`: Ansor's gradient descent over rounds, formula (2) of Bansor (bandits over Ansor's
// tasks and sketches), epsilon-greedy.
#pragma once

#include <memory>

#include "search/task_scheduler.h"

namespace lathe {

// A task without any valid program has no gradient: it is taken for as promising as the most promising other
// one, and ties go to the task with fewer rounds, so that it gets at most an equal share. What a similar task
// reached counts for less with every round that gains nothing.
std::unique_ptr<TaskScheduler> make_gradient(const std::vector<ScheduledTask>& tasks,
                                             const TaskSchedulerOptions& options);

}  // namespace lathe
