// The scheduler `round-robin`: every task in turn, whatever the seed.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "search/task_scheduler.h"

namespace lathe {

std::unique_ptr<TaskScheduler> make_round_robin(const std::vector<ScheduledTask>& tasks, uint64_t seed);

}  // namespace lathe
