// Vectors side by side along an axis: how many there may be, and how many it is best to have. Pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "space/rules/decider.h"

namespace lathe {

// How many vectors a stage may take side by side along the axis that fills most: 1, 2, 4 or 8 at the most,
// whichever axis earlier answers leave innermost, and fewer of a long body, which keeps the processor busy by
// itself.
std::vector<int64_t> vector_counts(const Analysis& analysis, const Compute& compute);

// Vectors none of which reaches beyond the end of their axis: a store under a mask takes as long as a dozen
// others on some machines. So a short axis has shorter vectors, and where the tiles leave a
// rest, the last is to overlap the one before.
struct VectorTile {
  int64_t vectors = 1;
  int64_t lanes = 1;
  int64_t size() const { return vectors * lanes; }
};
// With `wanted` vectors, or fewer where these leave a rest that single ones do not.
VectorTile vector_tile(int64_t extent, int64_t most_lanes, int64_t wanted);
// How many it is best to want: what tiles compute twice against the loop over them.
int64_t preferred_vectors(const Analysis& analysis, int64_t extent);

// ceil(a / b)
inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
// The largest divisor of a number that is no more than `most`; 1 where that is less.
int64_t largest_divisor(int64_t number, int64_t most);
// 1, 2, 4 .. up to `limit` (included).
std::vector<int64_t> powers_of_two(int64_t limit);
// The sizes of equal parts of an axis but for the last, in up to 64 parts.
std::vector<int64_t> sizes_of_parts(int64_t extent);

}  // namespace lathe
