#include "cost/draft.h"

#include <utility>

#include "base/check.h"
#include "cost/boosting.h"
#include "cost/objective.h"
#include "domain/encoding.h"

namespace lathe {

DraftModel::DraftModel(std::vector<Domain> sketches) : sketches_(std::move(sketches)) {}

FeatureSet DraftModel::rows_of(std::span<const Point> points) const {
  FeatureSet rows;
  for (const Domain& domain : sketches_) rows.columns += static_cast<int64_t>(1 + encoding_size(domain));
  rows.values.reserve(points.size() * static_cast<size_t>(rows.columns));
  for (const Point& point : points) {
    for (size_t sketch = 0; sketch < sketches_.size(); ++sketch) {
      const bool is_own = static_cast<int>(sketch) == point.sketch;
      append_columns(sketches_[sketch], is_own ? &point.integers : nullptr, rows.values);
    }
    rows.offsets.push_back(rows.offsets.back() + 1);
  }
  return rows;
}

void DraftModel::fit(std::span<const Point> points, std::span<const double> seconds) {
  LATHE_CHECK(points.size() == seconds.size());
  trees_.reset();
  const CostSamples samples{
      rows_of(points), {seconds.begin(), seconds.end()}, std::vector<int>(points.size(), 0)};
  if (!anything_to_learn(samples)) return;
  // Trees that cannot be trained leave the search without a draft.
  if (auto trees = train_trees(samples.features, make_objective("rank", samples), {}))
    trees_ = std::move(*trees);
}

Prediction DraftModel::predict(std::span<const Point> points) const {
  const std::vector<float> costs = trees_->predict(rows_of(points));
  return {{costs.begin(), costs.end()}, std::vector<double>(costs.size(), 0.0)};
}

}  // namespace lathe
