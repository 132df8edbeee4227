// Template of matrix products ([A] fig. 1, tile(y, x, k) and tensorize): rows y and columns x in three parts,
// terms k in two, a tile of at most sixteen rows, operands in panels as wide as the tile. Which of rows and
// columns goes first is open over the blocks of tiles and in them; the tile's rows and the innermost terms
// are unrolled or not, and its columns plain, unrolled, vectorized, or vectors of an intrinsic that adds up
// several terms, where the target has one for the operands' types. An argument that is no constant and whose
// layout is given is packed in every call or not. Other axes, such as a batch, are loops around it; a product
// with a vector has no rows.
#pragma once

#include "space/chooser.h"
#include "space/templates/tiling.h"

namespace lathe {

bool fits_gemm(const Analysis& analysis, const Stage& stage);
Tiling decide_gemm(Decider& decider, Chooser& chooser, const Stage& stage);

}  // namespace lathe
