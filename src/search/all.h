// The one table of search strategies and task schedulers by name. Each may be followed by what it lets a user
// set, as in "ucb:exploration=0.5" (base/settings.h).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "search/strategy.h"
#include "search/task_scheduler.h"

namespace lathe {

// The legal names, in the order in which help texts show them.
std::vector<std::string> strategy_names();
// An unknown name, or setting, is an error that lists the legal ones.
Status check_strategy(std::string_view text);
// A new strategy on `space`, which it keeps. What check_strategy refuses is an error.
Result<std::unique_ptr<Strategy>> make_strategy(std::string_view text, SearchSpace space, uint64_t seed);

std::vector<std::string> task_scheduler_names();
Result<std::unique_ptr<TaskScheduler>> make_task_scheduler(std::string_view text,
                                                           const std::vector<ScheduledTask>& tasks,
                                                           uint64_t seed);

}  // namespace lathe
