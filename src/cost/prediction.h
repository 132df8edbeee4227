// What a cost model says of candidates: of their features, or, through a search's predictor, of points.
#pragma once

#include <vector>

namespace lathe {

struct Prediction {
  std::vector<double> mean;    // a cost for each: lower is better, comparable within a task, without unit
  std::vector<double> stddev;  // in the same scale; 0 where the model does not say
};

}  // namespace lathe
