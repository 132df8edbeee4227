// A domain with fewer values, all of them values of the whole one: small enough for every point to be
// measured.
#pragma once

#include <cstdint>
#include <vector>

#include "domain/choices.h"
#include "domain/domain.h"

namespace lathe {

struct ThinnedDomain {
  Domain domain;
  std::vector<int64_t> preferred;  // the same choices as before
  Choices fixed = {};              // of parameters that were left out: those that are preferred
};

// Halves the longest list of values again and again, of ordered and categorical parameters and of the inner
// factors of splits, until the domain has no more than `limit` points; first, last and preferred values stay.
// Where all lists are as short as that allows, parameters are left out, those with the fewest values first,
// and one stays. A step from one of its points leads to another of them. A categorical parameter becomes an
// ordered one, whose values are the categories' numbers; choices_of (choices.h) says the same of both.
ThinnedDomain thin(Domain domain, const std::vector<int64_t>& preferred, int64_t limit);

}  // namespace lathe
