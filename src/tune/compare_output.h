// One output of a program beside its reference. Floats may be apart by a share of the output's magnitude, or
// of their own where that is larger, and by what subnormal numbers come to; integers and booleans are the
// same or wrong. The reference is a double, whatever the type: where it lies beyond what the type holds, the
// infinity of its sign is right, and nothing else. Plain functions of their arguments.
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
  // How much further off each float may be, as roundings of the inputs and on the way make it
  // (sensitivity.h); infinite: any number. Empty: it is not known, and no further.
  std::vector<double> slack = {};
  // Of an element that is what is left of terms that cancel, how large these are; 0 of others. Empty: there
  // are none.
  std::vector<double> cancelled = {};
  double terms = 1;  // of a sum on the way: each may have been a subnormal number, and become 0
};

// Whether storing the number as this type leaves one: no NaN, no infinity.
bool is_representable(DType dtype, double value);
// Of the numbers that the type holds, the largest magnitude, or the next where that stands there more than
// once, as a mask does; 0 where there are none.
double largest_magnitude(DType dtype, std::span<const double> values);
// The same, but no more than 64 times what this share of those that are not 0 exceeds, so that fewer beside a
// pole forgive little elsewhere. Of what softmax leaves most is tiny, and rounded as the sums are that it
// began with: there the few must count.
constexpr double kFew = 1.0 / 64;
constexpr double kMost = 0.75;
double magnitude_of(DType dtype, std::span<const double> values, double few = kFew);

// An Error (wrong_result) names the first wrong element, or one that was never written: outputs begin as
// bytes 0xff, which is NaN, no boolean, and -1: only that which an integer should be shows whether it was
// written.
Status compare_points(const Reference& reference, const Layout& layout, std::span<const std::byte> bytes,
                      double tolerance);

// All of an output. An Error (wrong_result) names the element that is furthest off. `largest_difference` is
// raised to this output's, as a share of its magnitude.
Status compare_all(const Reference& reference, const Layout& layout, std::span<const std::byte> bytes,
                   double tolerance, double& largest_difference);

// Whether two references say the same at these points.
bool agrees(const Reference& points, std::span<const double> all, double tolerance);

}  // namespace lathe
