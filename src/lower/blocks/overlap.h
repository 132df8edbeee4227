// Whether the last tile of a loop may start earlier and compute again what the tile before it computed
// (tail=overlap in peel_tails.h).
#pragma once

#include "lower/blocks/known.h"

namespace lathe {

// `conjunct` = coefficient * loop.var + constant + inner < bound stands in the loop's body. True if all that
// uses the variable there stands under that same condition, uses it in multiples of the coefficient, and
// writes values that do not depend on what memory held before. `inside` is what is known in the loop's body.
bool can_overlap(const For& loop, const Conjunct& conjunct, const Known& inside);

}  // namespace lathe
