// A search method and a cost predictor of one's own, without a change of the library.
//
//   build/release/examples/03_own_search build/release/bin/lathe-worker
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "lathe/lathe.h"

namespace {

// Walks downhill: tries the neighbours of the best point so far, those first that the predictor likes, and
// random points where none is left.
class Walk : public lathe::SearchMethod {
 public:
  explicit Walk(lathe::PointSpace& space) : space_(space) {}

  std::vector<lathe::SearchPoint> propose(int count, const lathe::PointScorer& scorer) override {
    std::vector<lathe::SearchPoint> batch;
    for (const lathe::SearchPoint& point : candidates(scorer)) {
      if (std::ssize(batch) < count && space_.is_legal(point) && space_.use(point)) batch.push_back(point);
    }
    for (lathe::SearchPoint& point : space_.draw(count - static_cast<int>(batch.size())))
      batch.push_back(std::move(point));
    return batch;
  }

  void observe(std::span<const lathe::PointOutcome> outcomes) override {
    for (const lathe::PointOutcome& outcome : outcomes)
      if (outcome.seconds < best_.seconds) best_ = outcome;
  }

 private:
  std::vector<lathe::SearchPoint> candidates(const lathe::PointScorer& scorer) const {
    if (std::isinf(best_.seconds)) return space_.initial();
    std::vector<lathe::SearchPoint> around = space_.neighbours(best_.point);
    std::erase_if(around, [&](const lathe::SearchPoint& point) { return !space_.is_legal(point); });
    if (!scorer) return around;
    const std::vector<double> costs = scorer(around);
    std::vector<std::pair<double, lathe::SearchPoint>> ranked;
    for (size_t i = 0; i < around.size(); ++i) {
      if (costs[i] < std::numeric_limits<double>::infinity()) ranked.emplace_back(costs[i], around[i]);
    }
    std::ranges::sort(ranked);
    around.resize(ranked.size());
    std::ranges::transform(ranked, around.begin(), [](const auto& entry) { return entry.second; });
    return around;
  }

  lathe::PointSpace& space_;
  lathe::PointOutcome best_;
};

// Expects of a program what the measured program with the most similar features took.
class NearestProgram : public lathe::CostPredictor {
 public:
  bool fit(const lathe::ProgramRows& rows, std::span<const double> seconds) override {
    columns_ = static_cast<size_t>(rows.columns);
    values_.assign(rows.values.begin(), rows.values.end());
    seconds_.assign(seconds.begin(), seconds.end());
    return !seconds_.empty();
  }

  std::vector<double> predict(const lathe::ProgramRows& rows) const override {
    std::vector<double> costs;
    for (size_t row = 0; row < rows.values.size() / columns_; ++row)
      costs.push_back(seconds_[nearest(rows.values.subspan(row * columns_, columns_))]);
    return costs;
  }

 private:
  size_t nearest(std::span<const float> features) const {
    size_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (size_t row = 0; row < seconds_.size(); ++row) {
      double distance = 0;
      for (size_t k = 0; k < columns_; ++k) {
        const double difference = features[k] - values_[row * columns_ + k];
        if (!std::isnan(difference)) distance += std::abs(difference);  // NaN: the feature is missing
      }
      if (distance < least) {
        least = distance;
        best = row;
      }
    }
    return best;
  }

  size_t columns_ = 0;
  std::vector<float> values_;
  std::vector<double> seconds_;
};

lathe::Status tune_matmul(const char* worker) {
  lathe::Formula formula;
  formula.text = "C[i:64, j:48] = sum(r:32) A[i,r] * B[r,j]";
  formula.name = "matmul";
  lathe::TargetChoice target;
  target.cores = 1;
  const lathe::Result<lathe::Computation> matmul = lathe::make_operator(formula, target);
  if (!matmul) return std::unexpected(matmul.error());
  lathe::TuneChoice choice;
  choice.worker = worker;
  choice.records = ":memory:";
  choice.trials = 12;
  choice.strategy = "walk";  // what the records will say
  choice.batch = 4;
  choice.search_method = [](lathe::PointSpace& space, uint64_t) { return std::make_unique<Walk>(space); };
  choice.cost_predictor = [] { return std::make_unique<NearestProgram>(); };
  choice.progress = [](const std::string& sentence) { std::printf("%s\n", sentence.c_str()); };
  const lathe::Result<lathe::TuneResult> tuned = lathe::tune(*matmul, choice);
  if (!tuned) return std::unexpected(tuned.error());
  const lathe::TunedTask& task = tuned->tasks[0];
  std::printf("the best of %d trials takes %.3f us\n", static_cast<int>(task.trials), task.seconds * 1e6);
  return {};
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: 03_own_search LATHE-WORKER\n");
    return 1;
  }
  const lathe::Status status = tune_matmul(arguments[1]);
  if (!status) std::fprintf(stderr, "%s\n", status.error().to_string().c_str());
  return status ? 0 : 1;
}
