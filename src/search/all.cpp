#include "search/all.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "search/evolutionary.h"
#include "search/gradient.h"
#include "search/random.h"
#include "search/round_robin.h"

namespace lathe {
namespace {

struct StrategyEntry {
  const char* name;
  std::unique_ptr<Strategy> (*make)(SearchSpace, const StrategyOptions&);
};
constexpr std::array kStrategies{StrategyEntry{"evolutionary", make_evolutionary},
                                 StrategyEntry{"random", make_random}};

struct SchedulerEntry {
  const char* name;
  std::unique_ptr<TaskScheduler> (*make)(const std::vector<ScheduledTask>&, const TaskSchedulerOptions&);
};
constexpr std::array kSchedulers{SchedulerEntry{"gradient", make_gradient},
                                 SchedulerEntry{"round-robin", make_round_robin}};

template <class Table>
std::vector<std::string> names_of(const Table& table) {
  std::vector<std::string> names;
  for (const auto& entry : table) names.emplace_back(entry.name);
  return names;
}

std::unexpected<Error> unknown(const char* what, std::string_view name,
                               const std::vector<std::string>& names) {
  return fail(ErrorKind::invalid_argument,
              fmt::format("there is no {} '{}'; legal names are {}", what, name, fmt::join(names, ", ")));
}

}  // namespace

std::vector<std::string> strategy_names() { return names_of(kStrategies); }

Status check_strategy(std::string_view name) {
  if (std::ranges::find(kStrategies, name, &StrategyEntry::name) != std::end(kStrategies)) return {};
  return unknown("strategy", name, strategy_names());
}

Result<std::unique_ptr<Strategy>> make_strategy(std::string_view name, SearchSpace space,
                                                const StrategyOptions& options) {
  for (const StrategyEntry& entry : kStrategies) {
    if (name == entry.name) return entry.make(std::move(space), options);
  }
  return unknown("strategy", name, strategy_names());
}

std::vector<std::string> task_scheduler_names() { return names_of(kSchedulers); }

Result<std::unique_ptr<TaskScheduler>> make_task_scheduler(std::string_view name,
                                                           const std::vector<ScheduledTask>& tasks,
                                                           const TaskSchedulerOptions& options) {
  for (const SchedulerEntry& entry : kSchedulers) {
    if (name == entry.name) return entry.make(tasks, options);
  }
  return unknown("task scheduler", name, task_scheduler_names());
}

}  // namespace lathe
