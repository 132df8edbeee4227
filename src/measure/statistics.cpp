#include "measure/statistics.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/check.h"

namespace lathe {
namespace {

std::vector<double> faster_half(std::span<const double> samples) {
  LATHE_CHECK(!samples.empty());
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  sorted.resize((sorted.size() + 1) / 2);
  return sorted;
}

}  // namespace

double median(std::span<const double> values) {
  LATHE_CHECK(!values.empty());
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

double percentile(std::span<const double> values, double share) {
  LATHE_CHECK(!values.empty() && share > 0 && share <= 1);
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::max<size_t>(rank, 1) - 1];
}

double robust_centre(std::span<const double> samples) { return median(faster_half(samples)); }

double relative_spread(std::span<const double> samples) {
  std::vector<double> deviations = faster_half(samples);
  const double centre = median(deviations);
  if (!(centre > 0)) return 0;
  for (double& value : deviations) value = std::abs(value - centre);
  return median(deviations) / centre;
}

}  // namespace lathe
