// A search strategy and a cost model of one's own, without a change of the library.
//
//   build/release/examples/03_own_search build/release/bin/lathe-worker
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "cost/cost_model.h"
#include "evaluate/local_evaluator.h"
#include "expr/dag.h"
#include "measure/measurer.h"
#include "records/record_store.h"
#include "search/sampler.h"
#include "search/strategy.h"
#include "target/detect.h"
#include "task/task.h"
#include "tune/tune.h"

using namespace lathe;

namespace {

// Walks downhill: tries the neighbours of the best point so far, those first that the model likes, and random
// points where none is left.
class Walk : public Strategy {
 public:
  Walk(SearchSpace space, const StrategyOptions& options)
      : space_(std::move(space)), sampler_(space_, Rng(options.seed)) {}

  std::vector<Point> propose(int count, const Scorer& scorer) override {
    std::vector<Point> batch;
    for (const Point& point : candidates(scorer)) {
      if (std::ssize(batch) < count && space_.legal(point) && sampler_.use(point)) batch.push_back(point);
    }
    while (std::ssize(batch) < count) {
      const std::optional<Point> point = sampler_.draw();
      if (!point) break;
      batch.push_back(*point);
    }
    return batch;
  }

  void observe(std::span<const Trial> trials) override {
    for (const Trial& trial : trials) {
      sampler_.use(trial.point);
      if (trial.seconds < best_.seconds) best_ = trial;
    }
  }

 private:
  std::vector<Point> candidates(const Scorer& scorer) const {
    if (std::isinf(best_.seconds)) return space_.initial;
    std::vector<Point> around;
    for (auto& integers : neighbours(space_.sketches[best_.point.sketch], best_.point.integers)) {
      around.push_back({best_.point.sketch, std::move(integers)});
    }
    if (!scorer) return around;
    const std::vector<double> costs = scorer(around);
    std::vector<std::pair<double, Point>> ranked;
    for (size_t i = 0; i < around.size(); ++i) {
      if (costs[i] < std::numeric_limits<double>::infinity()) ranked.emplace_back(costs[i], around[i]);
    }
    std::ranges::sort(ranked);
    std::ranges::transform(ranked, around.begin(), [](const auto& entry) { return entry.second; });
    around.resize(ranked.size());
    return around;
  }

  SearchSpace space_;
  Sampler sampler_;
  Trial best_ = {{}, std::numeric_limits<double>::infinity()};
};

// Expects of a program what the measured program with the most similar features took.
class NearestProgram : public CostModel {
 public:
  Status fit(const FeatureMatrix& rows, std::span<const double> seconds, std::span<const int>) override {
    rows_ = rows;
    seconds_.assign(seconds.begin(), seconds.end());
    return {};
  }

  Result<Prediction> predict(const FeatureMatrix& rows) const override {
    if (!fitted() || rows.columns != rows_.columns) {
      return fail(ErrorKind::invalid_argument, "the model was not fitted on rows of this length");
    }
    Prediction prediction;
    for (int64_t row = 0; row < rows.rows; ++row) {
      const float* features = rows.values.data() + row * rows.columns;
      prediction.mean.push_back(seconds_[nearest(features)]);
      prediction.stddev.push_back(0);
    }
    return prediction;
  }

  bool fitted() const override { return !seconds_.empty(); }

 private:
  size_t nearest(const float* features) const {
    const auto distance = [&](size_t row) {
      double sum = 0;
      for (int64_t k = 0; k < rows_.columns; ++k) {
        const double difference = features[k] - rows_.values[row * rows_.columns + k];
        if (!std::isnan(difference)) sum += std::abs(difference);  // NaN: the feature is missing
      }
      return sum;
    };
    size_t best = 0;
    double least = distance(0);
    for (size_t row = 1; row < seconds_.size(); ++row) {
      if (const double d = distance(row); d < least) std::tie(best, least) = std::pair(row, d);
    }
    return best;
  }

  FeatureMatrix rows_;
  std::vector<double> seconds_;
};

Result<Task> matmul() {
  DagBuilder builder;
  const Tensor a = builder.input("A", {64, 32}), b = builder.input("B", {32, 48});
  const Axis i = spatial("i", 64), j = spatial("j", 48), r = reduce("r", 32);
  builder.compute("C", {i, j}, sum({r}, a(i, r) * b(r, j)));
  LATHE_TRY(Dag dag, builder.build());
  LATHE_TRY(const Target target, detect_target());
  return make_task("matmul", std::move(dag), with_cores(target, 1));
}

Status tune_matmul(const char* worker) {
  LATHE_TRY(const Task task, matmul());
  TuneOptions options;
  options.strategy = "walk";  // what the records will say
  options.batch = 4;
  options.strategy_factory = [](SearchSpace space, const StrategyOptions& strategy) {
    return std::make_unique<Walk>(std::move(space), strategy);
  };
  options.cost_model_factory = [] { return std::make_unique<NearestProgram>(); };

  MeasureOptions measuring;
  measuring.worker_path = worker;
  LATHE_TRY(Measurer measurer, Measurer::start(measuring));
  LocalEvaluator evaluator(measurer);
  LATHE_TRY(RecordStore records, RecordStore::open(":memory:"));
  const TuneObserver observer = [](const TuneState& state) {
    std::printf("%d trials, best %.3f us\n", static_cast<int>(state.progress.trials),
                state.progress.best_seconds * 1e6);
  };
  LATHE_TRY(const auto results, tune_cases({task}, options, {.trials = 12}, evaluator, records, observer));
  if (!results[0].winner) return fail(ErrorKind::not_found, "no valid program was found");
  LATHE_TRY(const Record best, records.by_id(results[0].winner->record));
  std::printf("the best was found by '%s', in sketch '%s'\n", best.strategy.c_str(),
              best.point.sketch.c_str());
  return {};
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: 03_own_search LATHE-WORKER\n");
    return 1;
  }
  const Status status = tune_matmul(arguments[1]);
  if (!status) std::fprintf(stderr, "%s\n", status.error().to_string().c_str());
  return status ? 0 : 1;
}
