// im2col + GEMM: the places of a windowed operand that a product reads, laid out as a matrix, so that what is
// left is a matrix product over as many rows as there are results of one filter, images and image rows
// without a border between them (Chellapilla et al. 2006).
#pragma once

#include "rewrite/rewrite.h"

namespace lathe {

// Rule "im2col" on O[.., y, ..] = sum over k.. of data[.., y * s + k * d, ..] * other[..] with a factor that
// is read at an index of spatial and reduce axes together; conditions (padding) and conversions may be around
// it. O.col[common.., m, k.., c..] holds, for the place m of all axes that only the data has, what one result
// reads, converted later; O.G is the product [common.., others.., m]; O picks. Not where no spatial axis is
// the other factor's alone (no matrix product: each element serves few results), nor where O.col would have
// more than 2^27 elements.
Result<Dag> rewrite_im2col(const Dag& dag, const std::string& stage, const RewriteParameters& parameters);

// Rule "flat_places": the same product without the matrix. The axes that only the data has become one, m, and
// the data is read where it lies, at indices that divide m: rows of a register tile go on from one row of a
// small image to the next. A stage that reads an axis divided is first rewritten by "divided_axis".
Result<Dag> rewrite_flat_places(const Dag& dag, const std::string& stage,
                                const RewriteParameters& parameters);

}  // namespace lathe
