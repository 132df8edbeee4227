// The scheduler `round-robin`: every task in turn.
#pragma once

#include <memory>

#include "search/task_scheduler.h"

namespace lathe {

std::unique_ptr<TaskScheduler> make_round_robin(const std::vector<ScheduledTask>& tasks,
                                                const TaskSchedulerOptions& options);

}  // namespace lathe
