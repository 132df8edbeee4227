#include "session/commands/run_experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/hash.h"
#include "base/read_file.h"
#include "base/write_file.h"
#include "experiment/figure.h"
#include "experiment/search_store.h"
#include "experiment/table_search.h"
#include "records/within.h"
#include "session/commands/live_ground.h"
#include "session/commands/measured_tables.h"
#include "session/commands/run_models.h"
#include "session/commands/table_ground.h"

namespace lathe {
namespace {

using nlohmann::ordered_json;

std::string place_in(const std::string& folder, const std::string& name) {
  return (std::filesystem::path(folder) / name).string();
}

// What searches are compared on: a table or an operator, under its name in the figure and in the store.
struct Ground {
  std::string name;
  std::string key;
  std::optional<TableGround> table = {};
  std::optional<LiveGround> live = {};
};

Result<Ground> table_ground(const std::string& path) {
  LATHE_TRY(MeasuredTable table, load_table(path));
  Ground ground{table.name, fmt::format("{} {}", table.name, hash_to_string(hash_text(table_bytes(table))))};
  LATHE_TRY(ground.table, within(path, TableGround::create(std::move(table))));
  if (seconds_of(ground.table->table()).empty())
    return fail(ErrorKind::unsupported, "the table has no legal point", path);
  return ground;
}

Result<Ground> live_ground(const ExperimentCase& one, const std::string& folder,
                           const ExperimentRequest& request, const std::string& records) {
  LATHE_TRY(LiveGround live, LiveGround::create(one, folder, records, request.worker, {}));
  Ground ground{live.name(), live.key()};
  ground.live.emplace(std::move(live));
  return ground;
}

// A curve that ended early goes on as it was.
std::vector<double> whole_curve(std::vector<double> curve, int64_t trials) {
  const double last = curve.empty() ? std::numeric_limits<double>::infinity() : curve.back();
  curve.resize(static_cast<size_t>(trials), last);
  return curve;
}

class Runner {
 public:
  // `folder` has the tables.
  Runner(const Experiment& experiment, const ExperimentRequest& request, std::string folder,
         const ExperimentListener& listener, SearchStore* store)
      : experiment_(experiment),
        parts_(request.parts),
        models_(std::move(folder), parts_),
        listener_(listener),
        store_(store),
        most_seeds_(request.seeds) {}

  // How many searches there are on one ground.
  size_t searches() const {
    size_t count = 0;
    for (const ExperimentRun& run : experiment_.runs) count += static_cast<size_t>(seeds_of(run));
    return count;
  }

  // Of one ground; none where it was stopped. `done` of `count` searches come before it.
  Result<std::optional<TableCurves>> curves_on(Ground& ground, size_t done, size_t count) {
    TableCurves curves{.table = ground.name, .random = {}, .runs = {}};
    const int64_t trials = trials_on(ground);
    for (const ExperimentRun& run : experiment_.runs) {
      RunCurves of_run{.run = run.label, .best = {}};
      for (int seed = 0; seed < seeds_of(run); ++seed) {
        if (listener_.stop && listener_.stop()) return std::nullopt;
        if (listener_.progress)
          listener_.progress(done++, count, fmt::format("{}: {}, seed {}", ground.name, run.label, seed));
        LATHE_TRY(const std::optional<KeptSearch> search, search_of(ground, run, trials, seed));
        if (!search) return std::nullopt;
        of_run.best.push_back(whole_curve(best_so_far(search->seconds), trials));
        if (ground.live) of_run.charged.push_back(whole_curve(search->charged, trials));
      }
      curves.runs.push_back(std::move(of_run));
    }
    add_yardsticks(ground, trials, curves);
    return curves;
  }

 private:
  int seeds_of(const ExperimentRun& run) const {
    return most_seeds_ ? std::min(*most_seeds_, run.seeds) : run.seeds;
  }

  int64_t trials_on(const Ground& ground) const {
    if (ground.live) return experiment_.trials;
    return std::min(experiment_.trials, std::ssize(seconds_of(ground.table->table())));
  }

  // The optimum, and what random search has.
  static void add_yardsticks(const Ground& ground, int64_t trials, TableCurves& curves) {
    if (ground.table) {
      const std::vector<double> seconds = seconds_of(ground.table->table());
      curves.optimum = *std::ranges::min_element(seconds);
      curves.random = expected_random(seconds, trials);
      return;
    }
    curves.random = band_of(curves.of(std::string(kRandomRun)).best).median;
    curves.optimum = std::numeric_limits<double>::infinity();
    for (const RunCurves& run : curves.runs)
      for (const std::vector<double>& best : run.best) curves.optimum = std::min(curves.optimum, best.back());
  }

  Result<std::optional<KeptSearch>> search_of(Ground& ground, const ExperimentRun& run, int64_t trials,
                                              int seed) {
    const SearchKey key{ground.key, run.strategy, RunModels::text_of(run), trials, experiment_.batch, seed};
    const bool is_kept = store_ != nullptr && !has_own_parts(run);
    if (is_kept) {
      if (const KeptSearch* known = store_->find(key)) return *known;
    }
    LATHE_TRY(std::optional<KeptSearch> search, ground.table
                                                    ? search_table_of(*ground.table, run, trials, seed)
                                                    : search_live(*ground.live, run, trials, seed));
    if (search && is_kept) LATHE_TRY_STATUS(store_->add(key, *search));
    return search;
  }

  bool has_own_parts(const ExperimentRun& run) const {
    return parts_.owns_strategy(run.strategy) || parts_.owns_cost_model(run.cost_model) ||
           (run.learned && parts_.owns_cost_model(run.learned->cost_model));
  }

  Result<std::optional<KeptSearch>> search_table_of(TableGround& ground, const ExperimentRun& run,
                                                    int64_t trials, int seed) {
    LATHE_TRY(const std::unique_ptr<CostModel> model, models_.make(run));
    const FeatureKind kind = model->wants();
    const TableFeatures features = [&](const Point& point) -> const std::optional<FeatureRows>& {
      return ground.features(kind, point);
    };
    const auto make = [&](SearchSpace space) {
      return parts_.make_strategy(run.strategy, std::move(space), static_cast<uint64_t>(seed));
    };
    LATHE_TRY(std::vector<double> seconds,
              search_table(ground.index(), ground.table(), make, *model, features,
                           {.trials = trials, .batch = experiment_.batch}));
    return KeptSearch{std::move(seconds)};
  }

  Result<std::optional<KeptSearch>> search_live(LiveGround& ground, const ExperimentRun& run, int64_t trials,
                                                int seed) {
    LiveSearchOptions options{.strategy = run.strategy,
                              .make_strategy =
                                  [&](SearchSpace space, uint64_t of_seed) {
                                    return parts_.make_strategy(run.strategy, std::move(space), of_seed);
                                  },
                              .make_model = [&] { return models_.make(run); },
                              .trials = trials,
                              .batch = experiment_.batch,
                              .seed = static_cast<uint64_t>(seed)};
    return ground.search(options, listener_.stop);
  }

  const Experiment& experiment_;
  const SearchParts& parts_;
  RunModels models_;
  const ExperimentListener& listener_;
  SearchStore* store_;
  std::optional<int> most_seeds_;
};

// Before any search: a name that does not exist would be found only after hours.
Status check_names(const Experiment& experiment, const SearchParts& parts) {
  for (const ExperimentRun& run : experiment.runs) {
    LATHE_TRY_STATUS(within(fmt::format("run '{}'", run.label), parts.check_strategy(run.strategy)));
    const auto model = within(fmt::format("run '{}'", run.label), parts.make_cost_model(run.cost_model));
    if (!model) return std::unexpected(model.error());
  }
  return {};
}

Result<std::vector<Ground>> grounds_of(const Experiment& experiment, const ExperimentRequest& request,
                                       const std::string& folder) {
  std::vector<Ground> grounds;
  for (const std::string& table : experiment.tables) {
    LATHE_TRY(Ground ground, table_ground(place_in(folder, table)));
    grounds.push_back(std::move(ground));
  }
  const std::string own = std::filesystem::path(request.file).parent_path().string();
  for (const ExperimentCase& one : experiment.cases) {
    LATHE_TRY(Ground ground, live_ground(one, own, request, place_in(request.out, experiment.name + ".db")));
    grounds.push_back(std::move(ground));
  }
  return grounds;
}

ordered_json json_of(const ConfidenceInterval& interval) {
  return {{"low", interval.low}, {"median", interval.median}, {"high", interval.high}};
}

std::string numbers_of(const RunExperiment& run) {
  ordered_json all{{"name", run.experiment.name}, {"tables", ordered_json::array()}};
  for (const TableCurves& table : run.tables) {
    ordered_json own{{"table", table.table}, {"optimum", table.optimum}, {"runs", ordered_json::array()}};
    for (const RunCurves& curves : table.runs) {
      const auto reached = trials_until(table, curves.run, table.optimum / 0.95);
      own["runs"].push_back({{"run", curves.run},
                             {"seeds", curves.best.size()},
                             {"score", json_of(score_of(table, curves.run))},
                             {"final_quality", json_of(final_quality_of(table, curves.run))},
                             {"trials_to_95", reached ? ordered_json(*reached) : ordered_json()}});
    }
    all["tables"].push_back(std::move(own));
  }
  all["bars"] = ordered_json::array();
  for (const BarOutcome& outcome : run.bars)
    all["bars"].push_back(
        {{"claim", outcome.bar.claim},
         {"value", std::isfinite(outcome.value) ? ordered_json(outcome.value) : ordered_json()},
         {"is_met", outcome.is_met}});
  return all.dump(2) + "\n";
}

}  // namespace

Result<RunExperiment> run_experiment(const ExperimentRequest& request, const ExperimentListener& listener) {
  LATHE_TRY(const std::string text, read_regular_file(request.file));
  RunExperiment run;
  LATHE_TRY(run.experiment, parse_experiment(text, request.file));
  LATHE_TRY_STATUS(within(request.file, check_names(run.experiment, request.parts)));
  if (!run.experiment.cases.empty() && request.out.empty())
    return fail(ErrorKind::invalid_argument, "cases are measured: --out names the folder that keeps them",
                request.file);
  const std::string own = std::filesystem::path(request.file).parent_path().string();
  const std::string folder = request.tables.empty() ? own : request.tables;
  std::optional<SearchStore> store;
  if (!request.out.empty()) {
    std::error_code failed;
    std::filesystem::create_directories(request.out, failed);
    if (failed) return fail(ErrorKind::io, failed.message(), request.out);
    LATHE_TRY(store, SearchStore::open(place_in(request.out, run.experiment.name + ".searches")));
  }
  LATHE_TRY(std::vector<Ground> grounds, grounds_of(run.experiment, request, folder));
  Runner runner(run.experiment, request, folder, listener, store ? &*store : nullptr);
  const size_t count = runner.searches() * grounds.size();
  for (size_t i = 0; i < grounds.size(); ++i) {
    LATHE_TRY(std::optional<TableCurves> curves, runner.curves_on(grounds[i], i * runner.searches(), count));
    run.is_whole = curves.has_value();
    if (!curves) return run;
    run.tables.push_back(std::move(*curves));
  }
  for (const ExperimentBar& bar : run.experiment.bars) run.bars.push_back(outcome_of(bar, run.tables));
  if (request.out.empty()) return run;
  LATHE_TRY_STATUS(
      write_file(place_in(request.out, run.experiment.name + ".svg"),
                 {svg_of(fmt::format("{}: {}", run.experiment.name, run.experiment.title), run.tables)}));
  LATHE_TRY_STATUS(write_file(place_in(request.out, run.experiment.name + ".json"), {numbers_of(run)}));
  return run;
}

}  // namespace lathe
