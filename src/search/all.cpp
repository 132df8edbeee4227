#include "search/all.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/settings.h"
#include "search/schedulers/gradient.h"
#include "search/schedulers/round_robin.h"
#include "search/schedulers/ucb.h"
#include "search/strategies/annealing.h"
#include "search/strategies/ansor.h"
#include "search/strategies/descent.h"
#include "search/strategies/doubled.h"
#include "search/strategies/evolutionary.h"
#include "search/strategies/flextensor.h"
#include "search/strategies/genetic.h"
#include "search/strategies/random.h"
#include "search/strategies/tree_search.h"

namespace lathe {
namespace {

struct StrategyEntry {
  const char* name;
  Result<std::unique_ptr<Strategy>> (*make)(const NamedSettings&, SearchSpace, uint64_t seed);
};
struct SchedulerEntry {
  const char* name;
  Result<std::unique_ptr<TaskScheduler>> (*make)(const NamedSettings&, const std::vector<ScheduledTask>&,
                                                 uint64_t seed);
};

// The maker of a row that has options: `make` with those of its `settings` as the text sets them.
template <auto make, auto settings, class... Arguments>
auto make_set(const NamedSettings& named, Arguments... arguments) {
  const auto table = settings();
  using Options = OptionsOf<decltype(table)>;
  using Made = decltype(make(std::move(arguments)..., Options()));
  const Result<Options> options = with_settings(Options(), table, named);
  if (!options) return Result<Made>(std::unexpected(options.error()));
  return Result<Made>(make(std::move(arguments)..., *options));
}
// The same of one that lets nothing be set.
template <auto make, class... Arguments>
auto make_plain(const NamedSettings& named, Arguments... arguments) {
  using Made = decltype(make(std::move(arguments)...));
  if (!named.settings.empty())
    return Result<Made>(
        fail(ErrorKind::invalid_argument, unknown_setting(named.name, named.settings[0].first, {})));
  return Result<Made>(make(std::move(arguments)...));
}

template <auto make, auto settings>
constexpr auto kSetStrategy = make_set<make, settings, SearchSpace, uint64_t>;
template <auto make, auto settings>
constexpr auto kSetScheduler = make_set<make, settings, const std::vector<ScheduledTask>&, uint64_t>;

constexpr std::array kStrategies{
    StrategyEntry{"evolutionary", kSetStrategy<make_evolutionary, evolutionary_settings>},
    StrategyEntry{"random", make_plain<make_random, SearchSpace, uint64_t>},
    StrategyEntry{"annealing", kSetStrategy<make_annealing, annealing_settings>},
    StrategyEntry{"genetic", kSetStrategy<make_genetic, genetic_settings>},
    StrategyEntry{"random-x2", make_plain<make_random_x2, SearchSpace, uint64_t>},
    StrategyEntry{"genetic-x2", kSetStrategy<make_genetic_x2, genetic_settings>},
    StrategyEntry{"ansor", kSetStrategy<make_ansor, ansor_settings>},
    StrategyEntry{"bansor", kSetStrategy<make_bansor, bansor_settings>},
    StrategyEntry{"descent", kSetStrategy<make_descent, descent_settings>},
    StrategyEntry{"tree-search", kSetStrategy<make_tree_search, tree_search_settings>},
    StrategyEntry{"flextensor-q", kSetStrategy<make_flextensor_q, flextensor_settings>},
    StrategyEntry{"flextensor-p", kSetStrategy<make_flextensor_p, flextensor_settings>},
    StrategyEntry{"flextensor-r", kSetStrategy<make_flextensor_r, flextensor_settings>}};

constexpr std::array kSchedulers{
    SchedulerEntry{"gradient-patient", kSetScheduler<make_gradient_patient, gradient_settings>},
    SchedulerEntry{"gradient", kSetScheduler<make_gradient, gradient_settings>},
    SchedulerEntry{"ucb", kSetScheduler<make_ucb, ucb_settings>},
    SchedulerEntry{"round-robin", make_plain<make_round_robin, const std::vector<ScheduledTask>&, uint64_t>}};

template <class Table>
std::vector<std::string> names_of(const Table& table) {
  std::vector<std::string> names;
  for (const auto& entry : table) names.emplace_back(entry.name);
  return names;
}

// What the row of that name makes of the arguments.
template <class Table, class... Arguments>
auto make_named(const Table& table, const char* what, std::string_view text, Arguments&&... arguments)
    -> decltype(table.front().make(NamedSettings(), std::forward<Arguments>(arguments)...)) {
  LATHE_TRY(const NamedSettings named, parse_named(text));
  for (const auto& entry : table)
    if (named.name == entry.name) return entry.make(named, std::forward<Arguments>(arguments)...);
  return fail(ErrorKind::invalid_argument, fmt::format("there is no {} '{}'; legal names are {}", what,
                                                       named.name, fmt::join(names_of(table), ", ")));
}

}  // namespace

std::vector<std::string> strategy_names() { return names_of(kStrategies); }

Status check_strategy(std::string_view text) {
  const auto made = make_strategy(text, {}, 0);
  if (!made) return std::unexpected(made.error());
  return {};
}

Result<std::unique_ptr<Strategy>> make_strategy(std::string_view text, SearchSpace space, uint64_t seed) {
  return make_named(kStrategies, "strategy", text, std::move(space), seed);
}

std::vector<std::string> task_scheduler_names() { return names_of(kSchedulers); }

Result<std::unique_ptr<TaskScheduler>> make_task_scheduler(std::string_view text,
                                                           const std::vector<ScheduledTask>& tasks,
                                                           uint64_t seed) {
  return make_named(kSchedulers, "task scheduler", text, tasks, seed);
}

}  // namespace lathe
