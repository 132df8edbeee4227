#include "cost/draft.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.h"
#include "cost/boosting.h"
#include "cost/objective.h"
#include "domain/encoding.h"

namespace lathe {

DraftModel::DraftModel(std::vector<Domain> sketches) : sketches_(std::move(sketches)) {
  for (const Domain& domain : sketches_) {
    first_columns_.push_back(columns_);
    columns_ += 1 + encoding_size(domain);
  }
}

// Numbers of other sketches than a point's own are missing.
FeatureSet DraftModel::rows_of(std::span<const Point> points) const {
  FeatureSet rows;
  rows.columns = static_cast<int64_t>(columns_);
  rows.values.assign(points.size() * columns_, std::numeric_limits<float>::quiet_NaN());
  auto row = rows.values.begin();
  for (const Point& point : points) {
    for (const size_t first : first_columns_) row[static_cast<std::ptrdiff_t>(first)] = 0;
    const auto sketch = static_cast<size_t>(point.sketch);
    const auto own = row + static_cast<std::ptrdiff_t>(first_columns_[sketch]);
    *own = 1;
    std::ranges::copy(encoded(sketches_[sketch], point.integers), own + 1);
    row += static_cast<std::ptrdiff_t>(columns_);
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
