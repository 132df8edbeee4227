// One output of a program beside its reference. An element is right within a share of the output's magnitude,
// or of its own where that is larger, and where it is further off, within its forward error bound
// (check/error_bound.h), which only such elements are asked for. Integers and booleans are the same, but
// where a rounding decides them. The reference is a double, whatever the type: where it lies beyond what the
// type holds, the infinity of its sign is right, and nothing else. Plain functions of their arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/result.h"
#include "check/approximate.h"
#include "expr/tensor.h"
#include "task/layout.h"

namespace lathe {

// What is compared of one output.
struct Reference {
  Tensor tensor;
  std::vector<int64_t> positions;  // row-major
  std::vector<double> expected;    // at each position
  double terms = 1;                // of a sum on the way: each may have been a subnormal number, and become 0
};

// The element at a row-major position, and how far off it may be. An Error ends the comparison.
using ElementBound = std::function<Result<Approximate>(int64_t position)>;

// Whether storing the number as this type leaves one: no NaN, no infinity.
bool is_representable(DType dtype, double value);
// Of the numbers that the type holds, the largest magnitude, or the next where that stands there more than
// once, as a mask does; but no more than 64 times what three in four of those that are not 0 exceed, so that
// some beside a pole forgive little elsewhere. 0 where there are none.
double magnitude_of(DType dtype, std::span<const double> values);

// The sampled elements, and of all others whether they were written and are numbers where they should be. An
// Error (wrong_result) names the first wrong one. Outputs begin as bytes 0xff: a NaN that no operation gives,
// no boolean, and an integer, -1 or the largest, where only the reference shows whether it was written.
Status compare_points(const Reference& reference, const Layout& layout, std::span<const std::byte> bytes,
                      double tolerance, const ElementBound& bound);

// All of an output. An Error (wrong_result) names the element that is furthest off. `largest_difference` is
// raised to this output's, as a share of its magnitude, elements beyond the tolerance but within their bound
// apart. Of many such elements some thousands, those furthest off, are held to theirs.
Status compare_all(const Reference& reference, const Layout& layout, std::span<const std::byte> bytes,
                   double tolerance, const ElementBound& bound, double& largest_difference);

// Whether values in double say the same at these points, however they were added up.
Result<bool> agrees(const Reference& points, std::span<const double> all, double tolerance,
                    const ElementBound& bound);

}  // namespace lathe
