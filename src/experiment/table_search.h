// A search on a table instead of a machine: the same strategies and models, times from the table. The same on
// every machine, and thousands of trials in a second.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "cost/cost_model.h"
#include "experiment/measured_table.h"
#include "search/strategy.h"

namespace lathe {

struct TableSearchOptions {
  int64_t trials = 0;
  int batch = 64;  // between two fits, where the strategy does not fix it
};

// Features of a point of the table, for the model; nothing where there is no program.
using TableFeatures = std::function<const std::optional<FeatureRows>&(const Point&)>;

// The seconds of each trial, in order, of several points in one trial the least; those of a failure are
// infinite. Fewer than asked for where the strategy ended before. `make` gives the strategy on the table's
// space.
Result<std::vector<double>> search_table(
    const TableIndex& index, const MeasuredTable& table,
    const std::function<Result<std::unique_ptr<Strategy>>(SearchSpace)>& make, CostModel& model,
    const TableFeatures& features, const TableSearchOptions& options);

// The seconds of all legal points, a failure's those of the slowest: what scores are computed from (curve.h).
std::vector<double> seconds_of(const MeasuredTable& table);

}  // namespace lathe
