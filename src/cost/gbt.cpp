#include "cost/gbt.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "base/check.h"
#include "cost/boosting.h"
#include "cost/rank_loss.h"

namespace lathe {
namespace {

// The rows of each task.
using Groups = std::vector<std::vector<size_t>>;

Groups rows_by_task(std::span<const int> groups) {
  std::map<int, std::vector<size_t>> rows;
  for (size_t i = 0; i < groups.size(); ++i) rows[groups[i]].push_back(i);
  Groups result;
  for (auto& [task, members] : rows) result.push_back(std::move(members));
  return result;
}

bool anything_to_learn(const Groups& tasks, std::span<const double> seconds) {
  return std::any_of(tasks.begin(), tasks.end(), [&](const std::vector<size_t>& rows) {
    return std::any_of(rows.begin(), rows.end(),
                       [&](size_t row) { return seconds[row] != seconds[rows.front()]; });
  });
}

Objective rank_objective(const Groups& tasks, std::span<const double> seconds) {
  return [&tasks, seconds](std::span<const float> predictions, std::span<float> gradient,
                           std::span<float> hessian) {
    for (const std::vector<size_t>& rows : tasks) {
      std::vector<double> cost;
      std::vector<float> prediction, first(rows.size(), 0.0f), second(rows.size(), 0.0f);
      for (size_t row : rows) {
        cost.push_back(seconds[row]);
        prediction.push_back(predictions[row]);
      }
      add_rank_gradient(cost, prediction, first, second);
      for (size_t i = 0; i < rows.size(); ++i) {
        gradient[rows[i]] = first[i];
        hessian[rows[i]] = second[i];
      }
    }
  };
}

// Minus the throughput relative to the task's best, a cost in [-1, 0]; 0 for failures.
std::vector<float> relative_costs(const Groups& tasks, std::span<const double> seconds) {
  std::vector<float> costs(seconds.size(), 0.0f);
  for (const std::vector<size_t>& rows : tasks) {
    double best = std::numeric_limits<double>::infinity();
    for (size_t row : rows) best = std::min(best, seconds[row]);
    for (size_t row : rows) {
      if (std::isfinite(seconds[row])) costs[row] = -static_cast<float>(best / seconds[row]);
    }
  }
  return costs;
}

Objective regression_objective(std::vector<float> costs) {
  return [costs = std::move(costs)](std::span<const float> predictions, std::span<float> gradient,
                                    std::span<float> hessian) {
    for (size_t i = 0; i < costs.size(); ++i) {
      gradient[i] = predictions[i] - costs[i];
      hessian[i] = 1.0f;
    }
  };
}

class Gbt : public CostModel {
 public:
  explicit Gbt(bool rank) : rank_(rank) {}

  Status fit(const FeatureMatrix& rows, std::span<const double> seconds,
             std::span<const int> groups) override {
    LATHE_CHECK(std::ssize(seconds) == rows.rows && std::ssize(groups) == rows.rows);
    const Groups tasks = rows_by_task(groups);
    trees_.reset();
    columns_ = rows.columns;
    if (!anything_to_learn(tasks, seconds)) return {};
    const Objective objective =
        rank_ ? rank_objective(tasks, seconds) : regression_objective(relative_costs(tasks, seconds));
    BoostingOptions options;
    if (!rank_) options.child_weight = 2;  // a row's second derivative is 1 here and at most 1/4 with ranks
    LATHE_TRY(trees_, Boosting::train(rows, objective, options));
    return {};
  }

  Result<Prediction> predict(const FeatureMatrix& rows) const override {
    if (!trees_) return fail(ErrorKind::invalid_argument, "the cost model predicts only after it was fitted");
    if (rows.columns != columns_) {
      return fail(
          ErrorKind::invalid_argument,
          fmt::format("the cost model was fitted on {} features a row, not {}", columns_, rows.columns));
    }
    if (rows.rows == 0) return Prediction{};
    LATHE_TRY(const std::vector<float> costs, trees_->predict(rows));
    return Prediction{{costs.begin(), costs.end()}, std::vector<double>(costs.size(), 0.0)};
  }

  bool fitted() const override { return trees_.has_value(); }

 private:
  bool rank_;
  int64_t columns_ = 0;
  std::optional<Boosting> trees_;
};

}  // namespace

std::unique_ptr<CostModel> make_gbt() { return std::make_unique<Gbt>(true); }
std::unique_ptr<CostModel> make_gbt_regression() { return std::make_unique<Gbt>(false); }

}  // namespace lathe
