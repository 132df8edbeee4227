// Template of convolutions over one to three axes, with strides and dilation ([A] table 1, [F] 6.5): every
// map reads all channels. A transposed one is that of its spread out and padded input with a flipped kernel,
// and one with a window of one place is of the same family.
#pragma once

#include "space/chooser.h"
#include "space/templates/tiling.h"

namespace lathe {

bool fits_convolution(const Analysis& analysis, const Stage& stage);
Tiling decide_convolution(Decider& decider, Chooser& chooser, const Stage& stage);

}  // namespace lathe
