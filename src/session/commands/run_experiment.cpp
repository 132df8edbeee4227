#include "session/commands/run_experiment.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/hash.h"
#include "base/read_file.h"
#include "base/write_file.h"
#include "cost/all.h"
#include "cost/transfer.h"
#include "experiment/figure.h"
#include "experiment/search_store.h"
#include "experiment/table_search.h"
#include "records/within.h"
#include "search/all.h"
#include "session/commands/measured_tables.h"
#include "session/commands/table_ground.h"

namespace lathe {
namespace {

using nlohmann::ordered_json;

std::string place_in(const std::string& folder, const std::string& name) {
  return (std::filesystem::path(folder) / name).string();
}

// A table, and what names it in the store.
struct KeyedGround {
  TableGround ground;
  std::string key;
};

Result<KeyedGround> keyed_ground(const std::string& path) {
  LATHE_TRY(MeasuredTable table, load_table(path));
  const std::string key = fmt::format("{} {}", table.name, hash_to_string(hash_text(table_bytes(table))));
  LATHE_TRY(TableGround ground, within(path, TableGround::create(std::move(table))));
  return KeyedGround{std::move(ground), key};
}

class Runner {
 public:
  // `folder` has the tables.
  Runner(const Experiment& experiment, std::string folder, const ExperimentListener& listener,
         SearchStore* store, std::optional<int> most_seeds)
      : experiment_(experiment),
        folder_(std::move(folder)),
        listener_(listener),
        store_(store),
        most_seeds_(most_seeds) {}

  // How many searches there are on one table.
  size_t searches() const {
    size_t count = 0;
    for (const ExperimentRun& run : experiment_.runs) count += static_cast<size_t>(seeds_of(run));
    return count;
  }

  // Of one table; none where it was stopped.
  Result<std::optional<TableCurves>> curves_on(KeyedGround& ground, size_t done, size_t count) {
    const std::vector<double> seconds = seconds_of(ground.ground.table());
    if (seconds.empty()) return fail(ErrorKind::unsupported, "the table has no legal point");
    const int64_t trials = std::min(experiment_.trials, std::ssize(seconds));
    TableCurves curves{.table = ground.ground.table().name,
                       .optimum = *std::ranges::min_element(seconds),
                       .random = expected_random(seconds, trials),
                       .runs = {}};
    for (const ExperimentRun& run : experiment_.runs) {
      RunCurves of_run{.run = run.label, .best = {}};
      for (int seed = 0; seed < seeds_of(run); ++seed) {
        if (listener_.stop && listener_.stop()) return std::nullopt;
        if (listener_.progress)
          listener_.progress(done++, count, fmt::format("{}: {}, seed {}", curves.table, run.label, seed));
        LATHE_TRY(const std::vector<double> search, search_of(ground, run, trials, seed));
        of_run.best.push_back(whole_curve(search, trials));
      }
      curves.runs.push_back(std::move(of_run));
    }
    return curves;
  }

 private:
  int seeds_of(const ExperimentRun& run) const {
    return most_seeds_ ? std::min(*most_seeds_, run.seeds) : run.seeds;
  }

  Result<std::vector<double>> search_of(KeyedGround& ground, const ExperimentRun& run, int64_t trials,
                                        int seed) {
    const SearchKey key{ground.key, run.strategy, model_text(run), trials, experiment_.batch, seed};
    if (store_ != nullptr) {
      if (const std::vector<double>* known = store_->find(key)) return *known;
    }
    LATHE_TRY(const std::unique_ptr<CostModel> model, model_of(run));
    const FeatureKind kind = model->wants();
    const TableFeatures features = [&](const Point& point) -> const std::optional<FeatureRows>& {
      return ground.ground.features(kind, point);
    };
    const auto make = [&](SearchSpace space) {
      return make_strategy(run.strategy, std::move(space), static_cast<uint64_t>(seed));
    };
    LATHE_TRY(std::vector<double> seconds,
              search_table(ground.ground.index(), ground.ground.table(), make, *model, features,
                           {.trials = trials, .batch = experiment_.batch}));
    if (store_ != nullptr) LATHE_TRY_STATUS(store_->add(key, seconds));
    return seconds;
  }

  // With all that decides what it predicts.
  static std::string model_text(const ExperimentRun& run) {
    if (!run.learned) return run.cost_model;
    const LearnedBefore& learned = *run.learned;
    return fmt::format("{} after {} of {} points of {}, half-life {}", run.cost_model, learned.cost_model,
                       learned.points, fmt::join(learned.tables, " "), learned.half_life);
  }

  Result<std::unique_ptr<CostModel>> model_of(const ExperimentRun& run) {
    LATHE_TRY(std::unique_ptr<CostModel> model, make_cost_model(run.cost_model));
    if (!run.learned) return model;
    LATHE_TRY(std::shared_ptr<const CostModel> global, global_model(*run.learned));
    if (global->wants() != model->wants())
      return fail(ErrorKind::invalid_argument,
                  fmt::format("run '{}': '{}' and '{}' want other features", run.label, run.cost_model,
                              run.learned->cost_model));
    return make_transfer(std::move(global), std::move(model), {.half_life = run.learned->half_life});
  }

  // Fitted once for all searches.
  Result<std::shared_ptr<const CostModel>> global_model(const LearnedBefore& learned) {
    for (const auto& [known, model] : global_)
      if (known == learned) return model;
    LATHE_TRY(std::unique_ptr<CostModel> model, make_cost_model(learned.cost_model));
    CostSamples samples;
    const int64_t each = std::max<int64_t>(1, learned.points / std::ssize(learned.tables));
    for (size_t i = 0; i < learned.tables.size(); ++i) {
      LATHE_TRY(KeyedGround ground, keyed_ground(place_in(folder_, learned.tables[i])));
      add_points(ground.ground, each, static_cast<int>(i), model->wants(), samples);
    }
    LATHE_TRY_STATUS(model->fit(samples));
    if (!model->fitted())
      return fail(ErrorKind::unsupported, fmt::format("'{}' learns nothing from {}", learned.cost_model,
                                                      fmt::join(learned.tables, ", ")));
    global_.emplace_back(learned, std::move(model));
    return global_.back().second;
  }

  // So many measured points of a table, drawn without repetition.
  static void add_points(TableGround& ground, int64_t count, int task, FeatureKind kind,
                         CostSamples& samples) {
    std::vector<size_t> places;
    for (size_t i = 0; i < ground.table().entries.size(); ++i)
      if (ground.table().entries[i].outcome == TableEntry::Outcome::measured) places.push_back(i);
    Rng rng(static_cast<uint64_t>(task));
    for (size_t i = 0; i < places.size() && std::cmp_less(i, count); ++i) {
      std::swap(places[i], places[i + rng.below(places.size() - i)]);
      const auto& rows = ground.features(kind, ground.index().points()[places[i]]);
      if (!rows) continue;
      samples.features.add(*rows);
      samples.seconds.push_back(ground.table().entries[places[i]].seconds);
      samples.tasks.push_back(task);
    }
  }

  static std::vector<double> whole_curve(const std::vector<double>& seconds, int64_t trials) {
    std::vector<double> best = best_so_far(seconds);
    const double last = best.empty() ? std::numeric_limits<double>::infinity() : best.back();
    best.resize(static_cast<size_t>(trials), last);
    return best;
  }

  const Experiment& experiment_;
  std::string folder_;
  const ExperimentListener& listener_;
  SearchStore* store_;
  std::optional<int> most_seeds_;
  std::vector<std::pair<LearnedBefore, std::shared_ptr<const CostModel>>> global_ = {};
};

// Before any search: a name that does not exist would be found only after hours.
Status check_names(const Experiment& experiment) {
  for (const ExperimentRun& run : experiment.runs) {
    LATHE_TRY_STATUS(within(fmt::format("run '{}'", run.label), check_strategy(run.strategy)));
    const auto model = within(fmt::format("run '{}'", run.label), make_cost_model(run.cost_model));
    if (!model) return std::unexpected(model.error());
  }
  return {};
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
  LATHE_TRY_STATUS(within(request.file, check_names(run.experiment)));
  const std::string folder =
      request.tables.empty() ? std::filesystem::path(request.file).parent_path().string() : request.tables;
  std::vector<KeyedGround> grounds;
  for (const std::string& table : run.experiment.tables) {
    LATHE_TRY(KeyedGround ground, keyed_ground(place_in(folder, table)));
    grounds.push_back(std::move(ground));
  }
  std::optional<SearchStore> store;
  if (!request.out.empty()) {
    std::error_code failed;
    std::filesystem::create_directories(request.out, failed);
    if (failed) return fail(ErrorKind::io, failed.message(), request.out);
    LATHE_TRY(store, SearchStore::open(place_in(request.out, run.experiment.name + ".searches")));
  }
  Runner runner(run.experiment, folder, listener, store ? &*store : nullptr, request.seeds);
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
