#include "experiment/table_search.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "cost/draft.h"
#include "experiment/curve.h"

namespace lathe {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

SearchSpace space_of(const TableIndex& index, const MeasuredTable& table) {
  SearchSpace space;
  for (const TableSketch& sketch : table.sketches) {
    space.sketches.push_back(sketch.domain);
    space.sketch_names.push_back(sketch.name);
  }
  space.violation = [&](const Point& point) -> std::optional<std::string> {
    const auto place = index.place_of(point);
    if (place && table.entries[*place].outcome != TableEntry::Outcome::illegal) return std::nullopt;
    return "not in the table";
  };
  return space;
}

std::vector<Domain> domains_of(const MeasuredTable& table) {
  std::vector<Domain> domains;
  for (const TableSketch& sketch : table.sketches) domains.push_back(sketch.domain);
  return domains;
}

class TableRun {
 public:
  TableRun(const TableIndex& index, const MeasuredTable& table, CostModel& model,
           const TableFeatures& features)
      : index_(index), table_(table), model_(model), features_(features), draft_(domains_of(table)) {}

  Trial measure(const Point& point) const {
    const TableEntry& entry = table_.entries[*index_.place_of(point)];
    if (entry.outcome != TableEntry::Outcome::measured) return {point, kInfinity};
    return {point, entry.seconds, entry.spread * entry.seconds, 1};
  }

  void learn(std::span<const Trial> trials) {
    for (const Trial& trial : trials) {
      points_.push_back(trial.point);
      seconds_.push_back(trial.seconds);
      const std::optional<FeatureRows>& rows = features_(trial.point);
      if (!rows) continue;
      samples_.features.add(*rows);
      samples_.seconds.push_back(trial.seconds);
      samples_.tasks.push_back(0);
    }
  }

  Status fit() {
    if (samples_.size() > 0) LATHE_TRY_STATUS(model_.fit(samples_));
    if (model_.fitted()) draft_.fit(points_, seconds_);
    return {};
  }

  Predictor predictor() const {
    Predictor predictor;
    if (model_.fitted()) predictor.full = [this](std::span<const Point> points) { return predict(points); };
    if (draft_.fitted())
      predictor.draft = [this](std::span<const Point> points) { return draft_.predict(points); };
    return predictor;
  }

 private:
  Prediction predict(std::span<const Point> points) const {
    Prediction all{std::vector(points.size(), kInfinity), std::vector(points.size(), 0.0)};
    FeatureSet set;
    std::vector<size_t> places;
    for (size_t i = 0; i < points.size(); ++i) {
      const std::optional<FeatureRows>& rows = features_(points[i]);
      if (!rows) continue;
      set.add(*rows);
      places.push_back(i);
    }
    if (places.empty()) return all;
    const Result<Prediction> prediction = model_.predict(set);
    if (!prediction) return all;
    for (size_t k = 0; k < places.size(); ++k) {
      all.mean[places[k]] = prediction->mean[k];
      all.stddev[places[k]] = prediction->stddev[k];
    }
    return all;
  }

  const TableIndex& index_;
  const MeasuredTable& table_;
  CostModel& model_;
  const TableFeatures& features_;
  CostSamples samples_;
  DraftModel draft_;
  std::vector<Point> points_;  // measured, and their seconds
  std::vector<double> seconds_;
};

}  // namespace

Result<std::vector<double>> search_table(
    const TableIndex& index, const MeasuredTable& table,
    const std::function<Result<std::unique_ptr<Strategy>>(SearchSpace)>& make, CostModel& model,
    const TableFeatures& features, const TableSearchOptions& options) {
  LATHE_TRY(const std::unique_ptr<Strategy> strategy, make(space_of(index, table)));
  TableRun run(index, table, model, features);
  std::vector<double> seconds;
  const int batch = strategy->batch() > 0 ? strategy->batch() : options.batch;
  const int per_trial = strategy->measured_per_trial();
  const int64_t points = options.trials * per_trial;
  while (std::ssize(seconds) < points) {
    LATHE_TRY_STATUS(run.fit());
    const auto left = points - std::ssize(seconds);
    const Proposal proposal =
        strategy->propose(static_cast<int>(std::min<int64_t>(batch, left)), run.predictor());
    std::vector<Trial> trials;
    for (const Point& point : proposal.points) trials.push_back(run.measure(point));
    for (const Trial& trial : trials) seconds.push_back(trial.seconds);
    strategy->observe(trials);
    run.learn(trials);
    if (proposal.exhausted || proposal.points.empty()) break;
  }
  return best_of_trials(seconds, per_trial);
}

std::vector<double> seconds_of(const MeasuredTable& table) {
  std::vector<double> seconds;
  double slowest = 0;
  for (const TableEntry& entry : table.entries) slowest = std::max(slowest, entry.seconds);
  for (const TableEntry& entry : table.entries) {
    if (entry.outcome == TableEntry::Outcome::illegal) continue;
    seconds.push_back(entry.outcome == TableEntry::Outcome::measured ? entry.seconds : slowest);
  }
  return seconds;
}

}  // namespace lathe
