// A compute one of whose axes is read divided by a constant: the channels of a grouped convolution, f / (F /
// groups), or of a depthwise one with several maps a channel, f / M. As two axes, the quotient and the
// remainder, the same indices are plain, and the usual rules find tiles.
#pragma once

#include "rewrite/rewrite.h"

namespace lathe {

// Rule "divided_axis" on a reduction that reads a / d or a % d of one spatial axis a, where d divides a's
// extent: O[.., a, ..] becomes O.D [.., q, r, ..] with a = q * d + r, and O picks. A tensor that is read at q
// * d + r gets a view O.D0, O.D1 .. with a dimension for each: of constants it is made beforehand.
Result<Dag> rewrite_divided_axis(const Dag& dag, const std::string& stage,
                                 const RewriteParameters& parameters);

}  // namespace lathe
