// A search method and a cost predictor of one's own in an experiment, beside those that there are: this file,
// and one line for each below. Which runs are compared, and on what, is 05_own_experiment.json, where
// "strategy": "line" and "cost_model": "mean" name them.
//
//   build/release/examples/05_own_experiment build/release/bin/lathe-worker examples/05_own_experiment.json
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <numeric>
#include <vector>

#include "lathe/lathe.h"

namespace {

// Draws points and tries those first that the predictor likes.
class Line : public lathe::SearchMethod {
 public:
  explicit Line(lathe::PointSpace& space) : space_(space), waiting_(space.initial()) {}

  std::vector<lathe::SearchPoint> propose(int count, const lathe::PointScorer& scorer) override {
    for (lathe::SearchPoint& point : space_.draw(4 * count)) waiting_.push_back(std::move(point));
    if (scorer) sort_by(scorer(waiting_));
    const auto taken = waiting_.begin() + std::min<std::ptrdiff_t>(count, std::ssize(waiting_));
    std::vector<lathe::SearchPoint> batch(waiting_.begin(), taken);
    waiting_.erase(waiting_.begin(), taken);
    return batch;
  }

  void observe(std::span<const lathe::PointOutcome>) override {}

 private:
  void sort_by(const std::vector<double>& costs) {
    std::vector<size_t> order(waiting_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, {}, [&](size_t place) { return costs[place]; });
    std::vector<lathe::SearchPoint> sorted;
    for (const size_t place : order) sorted.push_back(waiting_[place]);
    waiting_ = std::move(sorted);
  }

  lathe::PointSpace& space_;
  std::vector<lathe::SearchPoint> waiting_;
};

// Expects what the measured programs take that are no further away than most.
class MeanAround : public lathe::CostPredictor {
 public:
  bool fit(const lathe::ProgramRows& rows, std::span<const double> seconds) override {
    columns_ = static_cast<size_t>(rows.columns);
    values_.assign(rows.values.begin(), rows.values.end());
    costs_.clear();
    for (const double second : seconds) costs_.push_back(std::isfinite(second) ? std::log(second) : 0);
    return costs_.size() > 1;
  }

  std::vector<double> predict(const lathe::ProgramRows& rows) const override {
    std::vector<double> costs;
    for (size_t row = 0; row < rows.values.size() / columns_; ++row)
      costs.push_back(around(rows.values.subspan(row * columns_, columns_)));
    return costs;
  }

 private:
  double around(std::span<const float> features) const {
    double sum = 0, weights = 0;
    for (size_t row = 0; row < costs_.size(); ++row) {
      double distance = 0;
      for (size_t k = 0; k < columns_; ++k) {
        const double difference = features[k] - values_[row * columns_ + k];
        if (!std::isnan(difference)) distance += std::abs(difference);  // NaN: the feature is missing
      }
      const double weight = 1 / (1 + distance * distance);
      sum += weight * costs_[row];
      weights += weight;
    }
    return sum / weights;
  }

  size_t columns_ = 0;
  std::vector<float> values_;
  std::vector<double> costs_;
};

lathe::Status compare(const char* worker, const char* file) {
  lathe::ExperimentChoice choice;
  choice.file = file;
  choice.out = "own_experiment";
  choice.worker = worker;
  choice.search_methods["line"] = [](lathe::PointSpace& space, uint64_t) {
    return std::make_unique<Line>(space);
  };
  choice.cost_predictors["mean"] = [] { return std::make_unique<MeanAround>(); };
  choice.progress = [](const std::string& sentence) { std::printf("%s\n", sentence.c_str()); };
  const lathe::Result<lathe::ExperimentResult> result = lathe::run_experiment(choice);
  if (!result) return std::unexpected(result.error());
  for (const lathe::ComparedRun& run : result->runs)
    std::printf("%s, %s: %.3f of the best one's speed, score %.3f\n", run.ground.c_str(), run.run.c_str(),
                run.final_quality, run.score);
  for (const lathe::JudgedBar& bar : result->bars)
    std::printf("%s: %.3f, %s\n", bar.claim.c_str(), bar.value, bar.is_met ? "met" : "missed");
  return {};
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::fprintf(stderr, "usage: 05_own_experiment LATHE-WORKER EXPERIMENT.json\n");
    return 1;
  }
  const lathe::Status status = compare(arguments[1], arguments[2]);
  if (!status) std::fprintf(stderr, "%s\n", status.error().to_string().c_str());
  return status ? 0 : 1;
}
