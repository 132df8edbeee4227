// Template of grouped convolutions ([A] 2, [F] 6.5): that of convolutions, whose tiles of maps stay
// within a group, so that all of a tile's maps read the same channels.
#pragma once

#include "space/chooser.h"
#include "space/templates/tiling.h"

namespace lathe {

bool fits_grouped(const Analysis& analysis, const Stage& stage);
Tiling decide_grouped(Decider& decider, Chooser& chooser, const Stage& stage);

}  // namespace lathe
