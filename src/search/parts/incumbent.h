// The best point measured so far, and what points are worth against it under an acquisition.
#pragma once

#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "search/strategy.h"

namespace lathe {

class Incumbent {
 public:
  void observe(std::span<const Trial> trials);
  const std::optional<Trial>& best() const { return best_; }

  // Costs by the acquisition of that name, infinity for points that the model gives none. What the model says
  // of the incumbent stands for the best measured, as a model's costs have a scale of their own.
  std::vector<double> costs(const Predictor& predictor, std::span<const Point> points,
                            const std::string& acquisition, double kappa) const;

 private:
  std::optional<Trial> best_;
};

}  // namespace lathe
