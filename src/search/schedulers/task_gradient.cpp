#include "search/schedulers/task_gradient.h"

#include <algorithm>

#include "base/check.h"

namespace lathe {

std::vector<Setting<GradientOptions>> gradient_settings() {
  return {{"epsilon", &GradientOptions::epsilon, 0, 1},
          {"alpha", &GradientOptions::alpha, 0, 1},
          {"beta", &GradientOptions::beta, 0, 1000},
          {"backward-window", &GradientOptions::backward_window, 1, 1000}};
}

double task_gradient(const GradientInputs& inputs, const GradientOptions& options) {
  LATHE_CHECK(!inputs.best_seconds.empty());
  const size_t rounds = inputs.best_seconds.size();
  const auto window = static_cast<size_t>(options.backward_window);
  const double now = inputs.best_seconds.back();
  double backward = 0;
  if (rounds > window)
    backward = (now - inputs.best_seconds[rounds - 1 - window]) / static_cast<double>(window);
  double forward = -now / static_cast<double>(rounds);
  if (inputs.similar_flops_per_second > 0) {
    const double hoped = options.beta * inputs.flops / inputs.similar_flops_per_second - now;
    forward = std::min(forward, inputs.belief * hoped);
  }
  return inputs.weight * (options.alpha * backward + (1 - options.alpha) * forward);
}

}  // namespace lathe
