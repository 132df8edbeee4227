// The split parameter's part of domain.h: counting, drawing, listing and stepping inner factors.
// A value is the list of inner factors, outermost first; all functions are pure but for the Rng passed in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/rng.h"
#include "space/domain.h"

namespace lathe {

using Factors = std::vector<int64_t>;

// The number of legal values; saturates at 2^63 - 1.
int64_t count_splits(const SplitParameter& split);
// Whether there is more than one legal value; cheaper than counting.
bool has_choice(const SplitParameter& split);
// One legal value, distributed as domain.h says.
Factors sample_split(const SplitParameter& split, Rng& rng);
// The legal values one step away, each once.
std::vector<Factors> neighbours_of_split(const SplitParameter& split, const Factors& factors);
// All legal values.
std::vector<Factors> all_splits(const SplitParameter& split);
// Why these factors are illegal, or nothing if they are legal.
std::optional<std::string> split_fault(const SplitParameter& split, const Factors& factors);

}  // namespace lathe
