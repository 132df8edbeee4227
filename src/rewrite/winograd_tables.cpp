#include "rewrite/winograd_tables.h"

#include <fmt/format.h>

#include <array>

namespace lathe {
namespace {

constexpr int64_t kMostPoints = 8;

// The finite points by their number. Chosen among dyadic ones by the largest error of two-dimensional tiles
// over 256 channels in f32: 5/8 and 3/2 lose a third as much as 1 and 2.
const std::vector<double>& points_of(int64_t count) {
  static const std::array<std::vector<double>, kMostPoints> lists = {{{},
                                                                      {0},
                                                                      {0, 1},
                                                                      {0, 1, -1},
                                                                      {0, 0.75, -0.75, 1.5},
                                                                      {0, 0.625, -0.625, 1.5, -1.5},
                                                                      {0, 0.5, -0.5, 1, -1, -2},
                                                                      {0, 1, -1, 0.5, -0.5, 1.75, -1.75}}};
  return lists[static_cast<size_t>(count)];
}

// The coefficients, lowest first, of the product of (x - point) over all points but one (skip = size: over
// all).
std::vector<double> polynomial(const std::vector<double>& points, size_t skip) {
  std::vector<double> coefficients = {1};
  for (size_t l = 0; l < points.size(); ++l) {
    if (l == skip) continue;
    std::vector<double> next(coefficients.size() + 1, 0);
    for (size_t k = 0; k < coefficients.size(); ++k) {
      next[k + 1] += coefficients[k];
      next[k] -= points[l] * coefficients[k];
    }
    coefficients = std::move(next);
  }
  return coefficients;
}

double power(double base, int64_t exponent) {
  double value = 1;
  for (int64_t i = 0; i < exponent; ++i) value *= base;
  return value;
}

}  // namespace

Result<WinogradTables> winograd_tables(int64_t m, int64_t r) {
  if (m < 2 || r < 2)
    return fail(ErrorKind::illegal_schedule, fmt::format("there are no Winograd tables for F({}, {})", m, r));
  if (m + r - 1 > kMostPoints)
    return fail(ErrorKind::illegal_schedule, fmt::format("tiles of {} rows lose too much", m + r - 1));
  const std::vector<double>& points = points_of(m + r - 2);
  const size_t n = points.size() + 1;
  WinogradTables tables;
  tables.data.assign(n * n, 0);
  tables.weight.assign(n * static_cast<size_t>(r), 0);
  tables.output.assign(static_cast<size_t>(m) * n, 0);
  for (size_t j = 0; j + 1 < n; ++j) {
    double scale = 1;
    for (size_t l = 0; l + 1 < n; ++l) scale *= l == j ? 1 : points[j] - points[l];
    const std::vector<double> row = polynomial(points, j);
    for (size_t k = 0; k < row.size(); ++k) tables.data[j * n + k] = row[k];
    for (int64_t k = 0; k < r; ++k)
      tables.weight[j * static_cast<size_t>(r) + static_cast<size_t>(k)] = power(points[j], k) / scale;
    for (int64_t i = 0; i < m; ++i) tables.output[static_cast<size_t>(i) * n + j] = power(points[j], i);
  }
  const std::vector<double> last = polynomial(points, points.size());
  for (size_t k = 0; k < n; ++k) tables.data[(n - 1) * n + k] = last[k];
  tables.weight.back() = 1;
  tables.output.back() = 1;
  return tables;
}

}  // namespace lathe
