#include "report/plot_axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace lathe {
namespace {

constexpr std::array<double, 3> kSteps = {1, 2, 5};
constexpr int kMarks = 5;
// With more decades than this the marks between them have no labels.
constexpr double kFewDecades = 2.2;

// The least of 1, 2 and 5 times a power of ten that is not below.
double round_up(double value) {
  const double decade = std::pow(10, std::floor(std::log10(value)));
  for (const double step : kSteps) {
    if (step * decade >= value * (1 - 1e-9)) return step * decade;
  }
  return 10 * decade;
}

double round_down(double value) {
  const double decade = std::pow(10, std::floor(std::log10(value)));
  double found = decade;
  for (const double step : kSteps) {
    if (step * decade <= value * (1 + 1e-9)) found = step * decade;
  }
  return found;
}

std::string label_of(double value) { return fmt::format("{:.6g}", value); }

}  // namespace

double PlotAxis::place(double value) const {
  const double held = std::clamp(value, least, most);
  const double share =
      step == 0 ? std::log(held / least) / std::log(most / least) : (held - least) / (most - least);
  return start + share * length;
}

PlotAxis linear_axis(double least, double most, double start, double length) {
  const double step = round_up((most - least) / kMarks);
  return {step * std::floor(least / step + 1e-9), step * std::ceil(most / step - 1e-9), start, length, step};
}

PlotAxis logarithmic_axis(double least, double most, double start, double length) {
  PlotAxis axis = {round_down(least), round_up(most), start, length, 0};
  if (axis.most < 10 * axis.least) axis.most = 10 * axis.least;
  return axis;
}

std::vector<Tick> ticks_of(const PlotAxis& axis) {
  std::vector<Tick> ticks;
  if (axis.step != 0) {
    const auto count = static_cast<int>(std::lround((axis.most - axis.least) / axis.step));
    for (int i = 0; i <= count; ++i) {
      const double value = axis.least + i * axis.step;
      ticks.push_back({value, label_of(std::abs(value) < axis.step / 2 ? 0 : value)});
    }
    return ticks;
  }
  const bool names_all = std::log10(axis.most / axis.least) < kFewDecades;
  const auto first = static_cast<int>(std::floor(std::log10(axis.least) + 1e-9));
  for (int power = first; std::pow(10, power) <= axis.most * (1 + 1e-9); ++power) {
    for (const double step : kSteps) {
      const double value = step * std::pow(10, power);
      if (value < axis.least * (1 - 1e-9) || value > axis.most * (1 + 1e-9)) continue;
      ticks.push_back({value, names_all || step == 1 ? label_of(value) : ""});
    }
  }
  return ticks;
}

}  // namespace lathe
