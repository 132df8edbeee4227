// Formula (2) of Bansor (Ansor's gradient): how much sooner a network is done for one more round on a task.
#pragma once

#include <span>
#include <vector>

#include "base/settings.h"

namespace lathe {

// The paper leaves them open; these are Ansor's public code's.
struct GradientOptions {
  double epsilon = 0.05;    // probability of a random task; 0 is that code's
  double alpha = 0.2;       // weight of the task's recent gain against its expected gain
  double beta = 2;          // how much faster than a similar task is believed possible
  int backward_window = 3;  // rounds over which the recent gain is taken
};
std::vector<Setting<GradientOptions>> gradient_settings();

// What the formula needs to know about one task.
struct GradientInputs {
  double weight = 1;
  double flops = 0;
  std::span<const double> best_seconds;  // after each round so far, not empty
  double similar_flops_per_second = 0;   // the fastest similar task's; 0: there is none
  double belief = 1;  // how much of what that promises is still believed in; 1 in the paper
};

// df/dt of a task: how many weighted seconds one more round is expected to save, as a number <= 0. Without a
// similar task its term is left out of the minimum; before `backward_window` rounds the recent gain is 0.
double task_gradient(const GradientInputs& inputs, const GradientOptions& options);

}  // namespace lathe
