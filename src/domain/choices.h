// What was chosen in a point, by the names of the choices: how records keep it. A rule that asks one question
// more, or in another order, finds the answers to all the others again.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "domain/domain.h"

namespace lathe {

// By the parameters' names: the value itself of an ordered one, the number of a category, the inner factors
// of a split, the items' numbers of a permutation.
using Choices = std::map<std::string, std::vector<int64_t>>;

// The integers must be of the domain.
Choices choices_of(const Domain& domain, const std::vector<int64_t>& integers);
// Back: what the domain does not ask for is ignored, what was not answered is as in `otherwise`, a point of
// the domain. Nothing where an answer is none of its parameter's values.
std::optional<std::vector<int64_t>> integers_of(const Domain& domain, const Choices& choices,
                                                const std::vector<int64_t>& otherwise);
// The same for choices that another task's domain had, whose answers need not be values here: each is the
// value of least ratio to it; as in `otherwise` is what has no like.
std::vector<int64_t> integers_like(const Domain& domain, const Choices& choices,
                                   const std::vector<int64_t>& otherwise);

}  // namespace lathe
