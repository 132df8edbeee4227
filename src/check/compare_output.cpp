#include "check/compare_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <type_traits>

#include "expr/values.h"
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

std::unexpected<Error> unwritten_element(const Tensor& tensor, int64_t position) {
  return fail(ErrorKind::wrong_result,
              fmt::format("{}{} was not written", tensor->name, index_text(tensor->shape, position)));
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
    // Beyond 2^53 the nearest double stands for the integer.
    const double cut = std::trunc(expected);
    const bool is_right = std::abs(cut) <= 0x1p53 ? static_cast<int64_t>(got) == truncate(cut)
                                                  : static_cast<double>(got) == cut;
    return is_right ? 0 : INFINITY;
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

// Bytes 0xff: as a float a NaN of a sign and payload that no operation gives, but for one that reads it. A
// boolean is 0 or 1, and nothing else if it was written.
template <class T>
bool is_unwritten(DType dtype, const T& value) {
  if constexpr (std::is_integral_v<T>) {
    return dtype == DType::boolean && value != 0 && value != 1;
  } else {
    std::array<unsigned char, sizeof(T)> bytes = {};
    std::memcpy(bytes.data(), &value, sizeof(T));
    return std::ranges::all_of(bytes, [](unsigned char byte) { return byte == 0xff; });
  }
}

// Calls `visit` with the elements as what they are.
template <class Visit>
Status with_elements(DType dtype, std::span<const std::byte> bytes, const Visit& visit) {
  return visit_storage(
      dtype, [&]<class T>(std::type_identity<T>) { return visit(reinterpret_cast<const T*>(bytes.data())); });
}

// How far an element is off, as a share of what it is compared by. NaN is right where the reference is NaN,
// and nowhere else.
template <class T>
double share_off(T got, double expected, const Measure& by) {
  const double off = distance(got, expected, by);
  if (off == 0) return 0;
  const double own = std::abs(expected) <= by.largest ? std::abs(expected) : 0;
  return off / std::max(own, by.magnitude);
}

Measure measure_of(const Reference& reference, double tolerance) {
  const DType dtype = reference.tensor->dtype;
  return {is_float(dtype) ? tolerance : 0, magnitude_of(dtype, reference.expected),
          is_float(dtype) ? largest_of(dtype) : 0,
          is_float(dtype) ? reference.terms * least_that_stays(dtype) : 0};
}

// Whether so wrong an element is what roundings make of it.
Result<bool> is_explained(double got, double expected, int64_t position, const ElementBound& bound) {
  LATHE_TRY(const Approximate element, bound(position));
  return std::isinf(element.error) || (!element.is_exact() && std::abs(got - expected) <= element.error);
}

// Of elements that no reference was computed of: those that were not written, and some that are no numbers.
template <class T>
Status look_at_others(const Reference& reference, const Layout& layout, const T* values,
                      const ElementBound& bound) {
  constexpr size_t kMostAsked = 64;
  std::vector<int64_t> no_numbers;
  int64_t unwritten = -1;
  for_each_offset(layout, reference.tensor->shape, [&](int64_t position, int64_t offset) {
    const T value = values[offset];
    if (is_unwritten(reference.tensor->dtype, value)) {
      unwritten = position;
    } else if (no_numbers.size() < kMostAsked && std::isnan(static_cast<double>(value))) {
      no_numbers.push_back(position);
    }
  });
  if (unwritten >= 0) return unwritten_element(reference.tensor, unwritten);
  for (const int64_t position : no_numbers) {
    LATHE_TRY(const Approximate element, bound(position));
    if (!std::isnan(element.value) && std::isfinite(element.error))
      return wrong_element(reference.tensor, position, element.value, NAN);
  }
  return {};
}

template <class T>
Status points_of(const Reference& reference, const Layout& layout, const T* values, const Measure& by,
                 const ElementBound& bound) {
  const std::vector<int64_t>& shape = reference.tensor->shape;
  for (size_t i = 0; i < reference.positions.size(); ++i) {
    const int64_t position = reference.positions[i];
    const double expected = reference.expected[i];
    const T got = values[flatten(layout, shape, unravel(shape, position))];
    if (share_off(got, expected, by) <= by.tolerance) continue;
    LATHE_TRY(const bool explained, is_explained(static_cast<double>(got), expected, position, bound));
    if (!explained) return wrong_element(reference.tensor, position, expected, static_cast<double>(got));
  }
  return look_at_others(reference, layout, values, bound);
}

// An element that is further off than the tolerance.
struct Outlier {
  double share = 0;
  int64_t position = 0;
  double got = 0;
  bool is_unwritten = false;
};

// The first of these, the furthest off first, that its bound does not explain.
Status explain(std::vector<Outlier> outliers, const Reference& reference, const ElementBound& bound,
               double& largest_difference) {
  constexpr size_t kMostAsked = 4096;
  std::ranges::sort(outliers, std::greater(), &Outlier::share);
  if (outliers.size() > kMostAsked) outliers.resize(kMostAsked);
  for (const Outlier& outlier : outliers) {
    const double expected = reference.expected[static_cast<size_t>(outlier.position)];
    if (!outlier.is_unwritten) {
      LATHE_TRY(const bool explained, is_explained(outlier.got, expected, outlier.position, bound));
      if (explained) continue;
    }
    largest_difference = std::max(largest_difference, outlier.share);
    return wrong_element(reference.tensor, outlier.position, expected, outlier.got);
  }
  return {};
}

template <class T>
Status all_of(const Reference& reference, const Layout& layout, const T* values, const Measure& by,
              const ElementBound& bound, double& largest_difference) {
  std::vector<Outlier> outliers;
  for_each_offset(layout, reference.tensor->shape, [&](int64_t position, int64_t offset) {
    const T got = values[offset];
    const double off = share_off(got, reference.expected[static_cast<size_t>(position)], by);
    if (off <= by.tolerance) {
      largest_difference = std::max(largest_difference, off);
    } else {
      const bool unwritten = is_unwritten(reference.tensor->dtype, got);
      outliers.push_back({off, position, static_cast<double>(got), unwritten});
    }
  });
  return explain(std::move(outliers), reference, bound, largest_difference);
}

}  // namespace

bool is_representable(DType dtype, double value) { return std::isfinite(round_to(dtype, value)); }

double magnitude_of(DType dtype, std::span<const double> values) {
  constexpr double kMost = 0.75;
  constexpr double kFurthestAboveMost = 64;
  std::vector<double> magnitudes;
  for (const double value : values) {
    if (value != 0 && is_representable(dtype, value)) magnitudes.push_back(std::abs(value));
  }
  if (magnitudes.empty()) return 0;
  const double masked = *std::ranges::max_element(magnitudes);
  const auto masks = std::ranges::count(magnitudes, masked);
  if (masks > 1 && masks < std::ssize(magnitudes)) std::erase(magnitudes, masked);
  const auto above = static_cast<size_t>(kMost * static_cast<double>(magnitudes.size()));
  const auto place = magnitudes.end() - 1 - static_cast<std::ptrdiff_t>(above);
  std::ranges::nth_element(magnitudes, place);
  return std::min(kFurthestAboveMost * *place, *std::ranges::max_element(place, magnitudes.end()));
}

Status compare_points(const Reference& reference, const Layout& layout, std::span<const std::byte> bytes,
                      double tolerance, const ElementBound& bound) {
  const Measure by = measure_of(reference, tolerance);
  return with_elements(reference.tensor->dtype, bytes,
                       [&](const auto* values) { return points_of(reference, layout, values, by, bound); });
}

Status compare_all(const Reference& reference, const Layout& layout, std::span<const std::byte> bytes,
                   double tolerance, const ElementBound& bound, double& largest_difference) {
  const Measure by = measure_of(reference, tolerance);
  return with_elements(reference.tensor->dtype, bytes, [&](const auto* values) {
    return all_of(reference, layout, values, by, bound, largest_difference);
  });
}

Result<bool> agrees(const Reference& points, std::span<const double> all, double tolerance,
                    const ElementBound& bound) {
  constexpr double kDoublesShare = 0x1p-20;  // of what narrower roundings do, with room to spare
  const DType dtype = points.tensor->dtype;
  const double magnitude = magnitude_of(dtype, points.expected);
  for (size_t i = 0; i < points.positions.size(); ++i) {
    const double expected = points.expected[i];
    const double found = all[static_cast<size_t>(points.positions[i])];
    if (found == expected || (std::isnan(found) && std::isnan(expected))) continue;
    const bool are_beyond = !is_representable(dtype, expected) && !is_representable(dtype, found);
    if (are_beyond && std::signbit(found) == std::signbit(expected) && !std::isnan(found - expected))
      continue;
    const double off = std::abs(found - expected);
    if (is_float(dtype) && off <= tolerance * std::max(std::abs(expected), magnitude)) continue;
    LATHE_TRY(const Approximate element, bound(points.positions[i]));
    if (!(off <= (is_float(dtype) ? kDoublesShare : 1) * element.error)) return false;
  }
  return true;
}

}  // namespace lathe
