// The one table of search strategies and task schedulers by name.
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
// An unknown name is an error that lists the legal ones.
Status check_strategy(std::string_view name);
// A new strategy on `space`, which it keeps. An unknown name is an error as check_strategy gives it.
Result<std::unique_ptr<Strategy>> make_strategy(std::string_view name, SearchSpace space,
                                                const StrategyOptions& options);

std::vector<std::string> task_scheduler_names();
Result<std::unique_ptr<TaskScheduler>> make_task_scheduler(std::string_view name,
                                                           const std::vector<ScheduledTask>& tasks,
                                                           const TaskSchedulerOptions& options);

}  // namespace lathe
