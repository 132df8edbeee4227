// Winograd's minimal filtering F(m, r) for windows of one to three dimensions that slide by single steps
// (Lavin and Gray 2016; Toom-Cook), as a rewrite of the Dag: weights U and data V are transformed by small
// tables, dimension by dimension, M = U * V is a batch of dense products, and Y transforms back. Windows may
// be dilated: outputs a dilation apart are a dense convolution of their own. A window of more taps than a
// table takes is cut in equal parts, which M adds up.
#pragma once

#include "rewrite/rewrite.h"

namespace lathe {

// Rule "winograd", parameters m: outputs of a tile in every dimension (4 if absent), m0, m1, m2: in that of
// the compute's first, second or third window alone (1: it stays as it is). O of f32 becomes, for a window of
// r by r, O.U1 [i,b,c,f], O.U [i,j,c,f], O.V1 [p,c,i,b], O.V [i,j,p,c], O.M [i,j,p,f], O.Y1 [p,f,u,j], O.Y
// [p,f,u,v] and O, with p for all rows and tiles; a window in parts has its tiles apart from p. With pairs =
// 1 each V and Y whose table has pairs (paired_table.h) has another sum before it, O.VP1 [p,c,e,b] and so on.
Result<Dag> rewrite_winograd(const Dag& dag, const std::string& stage, const RewriteParameters& parameters);

}  // namespace lathe
