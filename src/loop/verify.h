// Whether a loop program keeps the invariants that everything else relies on (loop/loop.h,
// docs/architecture.md). Serves every stage, scheduled, lowered and flat; what it cannot prove either way it
// lets pass, so a program that it refuses is wrong, and the interpreter (loop/interpret.h) judges the rest. A
// few milliseconds.
//
// Checked: layouts fit their tensors; block names are unique; a tensor that is accessed is an argument,
// prepared, a table or under its one Alloc; inputs, constants, tables and (in main) prepared buffers are not
// written, and prepare sees constants only; bindings, conditions, extents and lowered accesses use loops
// around them, bodies and output indices their block's axes; stored values have the tensor's type; unrolled
// and vector loops have constant extents; parallel and vector loops (of more than one iteration) drive no
// reduce axis; parallel loops do not nest; vectors and masks stand in flat programs only, where every access
// is one offset.
//
// Domain: a binding stays within 0 .. extent - 1 of its axis: by its bounds, or else counted out as below.
//
// Coverage: within the lifetime of its output (loops inside of its Alloc; all loops for arguments and
// prepared buffers) a block with reduce axes reaches no point twice, and a block that writes an output
// argument reaches every point. Axes are taken together with the loops of their bindings and of the
// conditions on these; each such group is counted out where its loops have constant extents, lie in the
// lifetime and have at most 65,536 iterations together. Splits, fuses and reorders give such groups (one an
// axis, or one for the axes that were fused); groups that reach beyond, such as a reduce axis whose outer
// loop is outside of an accumulator's Alloc, are not judged.
//
// Lowered: an access under no condition, with constant extents around it and an index that is a plain sum of
// variables, stays within its storage for every iteration.
#pragma once

#include "base/result.h"
#include "loop/loop.h"

namespace lathe {

// An Error (invalid_program) says which statement breaks which invariant.
Status verify(const Program& program);

}  // namespace lathe
