// Allocated tensors whose blocks reach beyond their shapes get larger shapes, so that every access of a block
// lies inside: the last step of `drop_padding`. What other blocks reach under conditions counts as well.
#pragma once

#include "loop/loop.h"

namespace lathe {

Stmt grow_buffers(const Stmt& tree);

// An index over a block's axes as one over the loops around it.
Affine bound_index(const Affine& index, const Block& block);

}  // namespace lathe
