// Template of depthwise convolutions ([A] 2, [F] table 1): each map reads one channel, and nothing is added
// up but the kernel. Where several maps share a channel, the image is innermost in every tile.
#pragma once

#include "space/chooser.h"
#include "space/templates/tiling.h"

namespace lathe {

bool fits_depthwise(const Analysis& analysis, const Stage& stage);
Tiling decide_depthwise(Decider& decider, Chooser& chooser, const Stage& stage);

}  // namespace lathe
