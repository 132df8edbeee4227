// The split parameter's part of domain.h: counting, drawing, listing and stepping inner factors.
// A value is the list of inner factors, outermost first; all functions are pure but for the Rng passed in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/rng.h"
#include "domain/domain.h"

namespace lathe {

using Factors = std::vector<int64_t>;

// The number of legal values; saturates at 2^63 - 1.
int64_t count_splits(const SplitParameter& split);
// Whether there is more than one legal value; cheaper than counting.
bool has_choice(const SplitParameter& split);
// One legal value, distributed as domain.h says.
Factors sample_split(const SplitParameter& split, Rng& rng);
// How far a part goes at the cost of another one.
enum class Stride : uint8_t {
  divisor,  // to the next divisor of their product
  one,      // by one
  tile,     // to one tile more or fewer
  twice,    // by a factor of two
};
// With part `raised` larger, at the cost of part `lowered` (0: the outer part, which follows from the
// factors; all strides but `divisor` are between it and another one); nothing where that is no other legal
// value.
std::optional<Factors> step_of_split(const SplitParameter& split, const Factors& factors, int raised,
                                     int lowered, Stride stride);
// A part, the outer one among them, gives a divisor of it, drawn at random, to another part; nothing where
// what was drawn is no other legal value.
std::optional<Factors> divisor_given(const SplitParameter& split, const Factors& factors, Rng& rng);
// How many times the smaller of two numbers, 0 or more, the larger is; both one more, so that 0 has a ratio.
double ratio_of(int64_t a, int64_t b);
// The legal value that is like these factors, of a split into as many parts: each, the innermost first, is
// the legal one of least ratio to what is wanted.
Factors nearest_split(const SplitParameter& split, const Factors& wanted);
// All legal values.
std::vector<Factors> all_splits(const SplitParameter& split);
// Why these factors are illegal, or nothing if they are legal.
std::optional<std::string> split_fault(const SplitParameter& split, const Factors& factors);

}  // namespace lathe
