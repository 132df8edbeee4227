#include "experiment/curve.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace lathe {
namespace {

constexpr int kResamples = 2000;

}  // namespace

std::vector<double> best_so_far(std::span<const double> seconds) {
  std::vector<double> best;
  for (const double each : seconds) best.push_back(best.empty() ? each : std::min(best.back(), each));
  return best;
}

std::vector<double> best_of_trials(std::span<const double> seconds, int per_trial) {
  std::vector<double> trials;
  for (size_t i = 0; i < seconds.size(); ++i) {
    if (i % static_cast<size_t>(per_trial) == 0) trials.push_back(seconds[i]);
    trials.back() = std::min(trials.back(), seconds[i]);
  }
  return trials;
}

std::vector<double> expected_random(std::span<const double> table, int64_t trials) {
  LATHE_CHECK(trials >= 0 && trials <= std::ssize(table));
  std::vector<double> sorted(table.begin(), table.end());
  std::ranges::sort(sorted);
  const auto points = static_cast<double>(sorted.size());
  std::vector<double> expected;
  for (int64_t t = 1; t <= trials; ++t) {
    // The i-th of all is the best of t draws where none before it is drawn: (t / n) for the first, and for
    // each one more (n - i - t + 1) / (n - i) of the one before.
    double probability = static_cast<double>(t) / points;
    double sum = 0;
    for (size_t i = 0; i < sorted.size() && probability > 0; ++i) {
      sum += probability * sorted[i];
      const double left = points - static_cast<double>(i) - 1;
      if (left > 0) probability *= (left - static_cast<double>(t) + 1) / left;
    }
    expected.push_back(sum);
  }
  return expected;
}

double search_score(std::span<const double> best, std::span<const double> random, double optimum) {
  LATHE_CHECK(!best.empty() && best.size() <= random.size());
  double sum = 0;
  for (size_t t = 0; t < best.size(); ++t) {
    const double room = random[t] - optimum;
    if (room > 0) {
      sum += (random[t] - best[t]) / room;
    } else if (best[t] <= optimum) {
      sum += 1;
    }
  }
  return sum / static_cast<double>(best.size());
}

std::optional<int64_t> trials_to(std::span<const double> best, double optimum, double share) {
  for (size_t t = 0; t < best.size(); ++t)
    if (optimum / best[t] >= share) return static_cast<int64_t>(t) + 1;
  return std::nullopt;
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  if (values.size() % 2 == 1) return *middle;
  return 0.5 * (*middle + *std::max_element(values.begin(), middle));
}

ConfidenceInterval bootstrap_median(std::span<const double> runs, Rng rng) {
  LATHE_CHECK(!runs.empty());
  std::vector<double> medians;
  for (int i = 0; i < kResamples; ++i) {
    std::vector<double> drawn;
    for (size_t k = 0; k < runs.size(); ++k) drawn.push_back(runs[rng.below(runs.size())]);
    medians.push_back(median_of(std::move(drawn)));
  }
  std::ranges::sort(medians);
  const auto at = [&](double share) { return medians[static_cast<size_t>(share * (kResamples - 1))]; };
  return {at(0.025), median_of({runs.begin(), runs.end()}), at(0.975)};
}

}  // namespace lathe
