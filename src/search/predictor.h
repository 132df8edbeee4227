// What a search knows of points before they are measured. Both functions are empty while there is no model. A
// cost of infinity or NaN: not worth a trial. They may use threads as long as their numbers do not depend on
// them.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "cost/prediction.h"
#include "domain/domain.h"

namespace lathe {

struct Predictor {
  using Function = std::function<Prediction(std::span<const Point>)>;

  Function full;   // from the point's program: the better guess
  Function draft;  // from the point alone, some ten times as fast; empty: there is no such model

  explicit operator bool() const { return static_cast<bool>(full); }
};

// Mean costs by the full model, with NaN taken as infinity; checks that it answers for every point.
std::vector<double> mean_costs(const Predictor& predictor, std::span<const Point> points);

}  // namespace lathe
