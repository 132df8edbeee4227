// What a point is worth trying for, from a model that says how sure it is: AutoTVM, section 3.3, "uncertainty
// estimation" and figure 7. All are costs, lower is better, so that a search takes them in the place of
// predicted costs.
#pragma once

#include <string>
#include <vector>

#include "cost/prediction.h"

namespace lathe {

// "mean", "ei", "ucb", in the order in which help texts show them.
const std::vector<std::string>& acquisition_names();

// The expected improvement on the least cost measured, of a normal distribution:
//   (best - mean) Phi(z) + stddev phi(z),   z = (best - mean) / stddev;
// max(best - mean, 0) where the deviation is 0. Higher is better.
double expected_improvement(double mean, double stddev, double best);

// What to minimise: the mean; minus the expected improvement on `best`, in the scale of the prediction; or
// the lower confidence bound mean - kappa * stddev (the paper leaves kappa open). `name` is one of the names.
std::vector<double> acquisition_costs(const std::string& name, const Prediction& prediction, double best,
                                      double kappa = 1);

}  // namespace lathe
