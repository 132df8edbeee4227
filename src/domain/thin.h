// A domain with fewer values, all of them values of the whole one: small enough for every point to be
// measured.
#pragma once

#include <cstdint>
#include <vector>

#include "domain/domain.h"

namespace lathe {

struct ThinnedDomain {
  Domain domain;
  std::vector<int64_t> preferred;  // the same choices as before
};

// Halves the longest list of values again and again, of ordered and categorical parameters and of the inner
// factors of splits, until the domain has no more than `limit` points or nothing can be left out; first, last
// and preferred values stay. A step from one of its points leads to another of them. A categorical parameter
// becomes an ordered one, whose values are the categories' numbers; choices_of (choices.h) says the same of
// both.
ThinnedDomain thin(Domain domain, const std::vector<int64_t>& preferred, int64_t limit);

}  // namespace lathe
