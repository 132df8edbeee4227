// One output of a program beside its reference. Floats may be apart by a share of the largest magnitude that
// their type holds; integers and booleans are the same or wrong. The reference is a double, whatever the
// type: where it lies beyond what the type holds, the infinity of its sign is right, and nothing else. Plain
// functions of their arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "expr/tensor.h"
#include "task/layout.h"

namespace lathe {

// What is compared of one output.
struct Reference {
  Tensor tensor;
  std::vector<int64_t> positions;    // row-major
  std::vector<double> expected;      // at each position
  std::vector<bool> undecided = {};  // integers that a rounding changes, which are passed over; empty: none
  // How much further off each float may be, beside a pole or a step; infinite: any number. Empty: no further.
  std::vector<double> slack = {};
};

// Whether storing the number as this type leaves one: no NaN, no infinity.
bool is_representable(DType dtype, double value);
// Of the numbers that the type holds; 0 where there are none.
double largest_magnitude(DType dtype, std::span<const double> values);

// An Error (wrong_result) names the first wrong element, or one that was never written: outputs begin as
// bytes 0xff, which is NaN, no boolean, and -1: only that which an integer should be shows whether it was
// written.
Status compare_points(const Reference& reference, const Layout& layout, std::span<const std::byte> bytes,
                      double tolerance);

// All of an output. An Error (wrong_result) names the element that is furthest off. `largest_difference` is
// raised to this output's, as a share of its largest magnitude.
Status compare_all(const Reference& reference, const Layout& layout, std::span<const std::byte> bytes,
                   double tolerance, double& largest_difference);

// Whether two references say the same at these points.
bool agrees(const Reference& points, std::span<const double> all, double tolerance);

}  // namespace lathe
