#include "tune/compare_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "loop/host_tensor.h"

namespace lathe {
namespace {

std::string index_text(std::span<const int64_t> shape, int64_t position) {
  std::string text;
  for (size_t d = shape.size(); d-- > 0;) {
    text = fmt::format("{}{}{}", position % shape[d], text.empty() ? "" : ", ", text);
    position /= shape[d];
  }
  return "[" + text + "]";
}

std::vector<int64_t> unravel(std::span<const int64_t> shape, int64_t position) {
  std::vector<int64_t> index(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    index[d] = position % shape[d];
    position /= shape[d];
  }
  return index;
}

std::unexpected<Error> wrong_element(const Tensor& tensor, int64_t position, double expected, double got) {
  return fail(ErrorKind::wrong_result, fmt::format("{}{} is {} where the reference is {}", tensor->name,
                                                   index_text(tensor->shape, position), got, expected));
}

// Subnormal numbers have few digits, and what is computed of them fewer; hardware may make zeros of them, but
// for those of types that nothing is computed in, which may be off by their last place.
double least_that_stays(DType dtype) {
  const double computed = 2 * smallest_normal_of(info_of(dtype).computed_in);
  return std::max(computed, is_storage_only(dtype) ? 2 * smallest_normal_of(dtype) * epsilon_of(dtype) : 0);
}

// What all elements of an output are compared by.
struct Measure {
  double tolerance = 0;  // as a share
  double magnitude = 0;
  double largest = 0;  // that the type holds
  double least = 0;    // a difference that counts
};

// How far an element is off: 0 where it is right though it is no finite number, infinite where nothing would
// do.
template <class T>
double distance(T got, double expected, const Measure& by) {
  if constexpr (std::is_integral_v<T>) {
    return !std::isnan(expected) && got == static_cast<T>(expected) ? 0 : INFINITY;
  } else {
    const auto number = static_cast<double>(got);
    if (number == expected || (std::isnan(number) && std::isnan(expected))) return 0;
    const double difference = std::abs(number - expected);
    if (std::isnan(difference)) return INFINITY;
    if (difference < by.least) return 0;
    // By a rounding either may be the one that is still held.
    const bool is_beyond = std::isinf(number) && std::abs(expected) >= by.largest * (1 - by.tolerance);
    return is_beyond && std::signbit(number) == std::signbit(expected) ? 0 : difference;
  }
}

template <class T>
bool is_unwritten(DType dtype, T value) {
  if constexpr (std::is_integral_v<T>) {
    return dtype == DType::boolean && value != 0 && value != 1;
  } else {
    return std::isnan(static_cast<double>(value));
  }
}

// Calls `visit` with the elements as what they are.
template <class Visit>
Status with_elements(DType dtype, std::span<const std::byte> bytes, const Visit& visit) {
  return visit_storage(
      dtype, [&]<class T>(std::type_identity<T>) { return visit(reinterpret_cast<const T*>(bytes.data())); });
}

bool is_passed_over(const Reference& reference, size_t i) {
  return !reference.undecided.empty() && reference.undecided[i];
}

// How far an element is off beyond its own slack, as a share of what it is compared by. NaN is right where
// the reference is NaN, and nowhere else.
template <class T>
double share_off(T got, const Reference& reference, size_t i, const Measure& by) {
  const double expected = reference.expected[i];
  double off = distance(got, expected, by);
  if (off == 0) return 0;
  if constexpr (!std::is_integral_v<T>) {
    const bool may_be_further = !reference.slack.empty() && !std::isnan(static_cast<double>(got));
    if (may_be_further && off <= reference.slack[i]) return 0;
    if (may_be_further) off -= reference.slack[i];
  }
  const double own = std::abs(expected) <= by.largest ? std::abs(expected) : 0;
  return off / std::max(own, by.magnitude);
}

Measure measure_of(const Reference& reference, double tolerance) {
  const DType dtype = reference.tensor->dtype;
  // Where each element's own slack is known, large ones need forgive nothing to the others.
  const double few = reference.slack.empty() ? kFew : kMost;
  return {is_float(dtype) ? tolerance : 0, magnitude_of(dtype, reference.expected, few),
          is_float(dtype) ? largest_of(dtype) : 0,
          is_float(dtype) ? reference.terms * least_that_stays(dtype) : 0};
}

template <class T>
Status points_of(const Reference& reference, const Layout& layout, const T* values, const Measure& by) {
  const std::vector<int64_t>& shape = reference.tensor->shape;
  for (size_t i = 0; i < reference.positions.size(); ++i) {
    if (is_passed_over(reference, i)) continue;
    const int64_t position = reference.positions[i];
    const T got = values[flatten(layout, shape, unravel(shape, position))];
    if (!(share_off(got, reference, i, by) <= by.tolerance))
      return wrong_element(reference.tensor, position, reference.expected[i], static_cast<double>(got));
  }
  int64_t unwritten = -1;
  T found{};
  for_each_offset(layout, shape, [&](int64_t position, int64_t offset) {
    if (!is_unwritten(reference.tensor->dtype, values[offset])) return;
    unwritten = position;
    found = values[offset];
  });
  if (unwritten >= 0) return wrong_element(reference.tensor, unwritten, 0, static_cast<double>(found));
  return {};
}

template <class T>
Status all_of(const Reference& reference, const Layout& layout, const T* values, const Measure& by,
              double& largest_difference) {
  double worst = -1;
  int64_t worst_position = 0;
  T worst_value{};
  for_each_offset(layout, reference.tensor->shape, [&](int64_t position, int64_t offset) {
    const auto i = static_cast<size_t>(position);
    if (is_passed_over(reference, i)) return;
    const double off = share_off(values[offset], reference, i, by);
    if (off <= worst) return;
    worst = off;
    worst_position = position;
    worst_value = values[offset];
  });
  largest_difference = std::max(largest_difference, worst);
  if (worst <= by.tolerance) return {};
  return wrong_element(reference.tensor, worst_position,
                       reference.expected[static_cast<size_t>(worst_position)],
                       static_cast<double>(worst_value));
}

}  // namespace

bool is_representable(DType dtype, double value) { return std::isfinite(round_to(dtype, value)); }

namespace {

// Of those that are numbers, without zeros, which rectifiers and masks leave, and without a mask's.
std::vector<double> magnitudes_of(DType dtype, std::span<const double> values) {
  std::vector<double> magnitudes;
  for (const double value : values) {
    if (value != 0 && is_representable(dtype, value)) magnitudes.push_back(std::abs(value));
  }
  if (magnitudes.empty()) return magnitudes;
  const double largest = *std::ranges::max_element(magnitudes);
  const auto masked = std::ranges::count(magnitudes, largest);
  if (masked > 1 && masked < std::ssize(magnitudes)) std::erase(magnitudes, largest);
  return magnitudes;
}

}  // namespace

double largest_magnitude(DType dtype, std::span<const double> values) {
  const std::vector<double> magnitudes = magnitudes_of(dtype, values);
  return magnitudes.empty() ? 0 : *std::ranges::max_element(magnitudes);
}

double magnitude_of(DType dtype, std::span<const double> values, double few) {
  constexpr double kFurthestAboveFew = 64;
  std::vector<double> magnitudes = magnitudes_of(dtype, values);
  if (magnitudes.empty()) return 0;
  const auto above = static_cast<size_t>(few * static_cast<double>(magnitudes.size()));
  const auto place = magnitudes.end() - 1 - static_cast<std::ptrdiff_t>(above);
  std::ranges::nth_element(magnitudes, place);
  return std::min(kFurthestAboveFew * *place, *std::ranges::max_element(place, magnitudes.end()));
}

Status compare_points(const Reference& reference, const Layout& layout, std::span<const std::byte> bytes,
                      double tolerance) {
  const Measure by = measure_of(reference, tolerance);
  return with_elements(reference.tensor->dtype, bytes,
                       [&](const auto* values) { return points_of(reference, layout, values, by); });
}

Status compare_all(const Reference& reference, const Layout& layout, std::span<const std::byte> bytes,
                   double tolerance, double& largest_difference) {
  const Measure by = measure_of(reference, tolerance);
  return with_elements(reference.tensor->dtype, bytes, [&](const auto* values) {
    return all_of(reference, layout, values, by, largest_difference);
  });
}

bool agrees(const Reference& points, std::span<const double> all, double tolerance) {
  constexpr double kLess = 1e-3;  // by far than the roundings of f32 that slack stands for
  const DType dtype = points.tensor->dtype;
  const double magnitude = magnitude_of(dtype, points.expected);
  for (size_t i = 0; i < points.positions.size(); ++i) {
    const double expected = points.expected[i];
    const double found = all[static_cast<size_t>(points.positions[i])];
    const bool is_same_infinity = !is_representable(dtype, expected) && !std::isnan(expected) &&
                                  !is_representable(dtype, found) &&
                                  std::signbit(found) == std::signbit(expected);
    if (is_same_infinity && !std::isnan(found)) continue;
    const double roundings = points.slack.empty() ? 0 : kLess * points.slack[i];
    const double most =
        is_float(dtype) ? std::max(roundings, tolerance * std::max(std::abs(expected), magnitude)) : 0;
    if (!(std::abs(found - expected) <= most)) return false;
  }
  return true;
}

}  // namespace lathe
