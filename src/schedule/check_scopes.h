// The scoping rules that every step keeps: what a block touches is there where it runs. Internal to
// schedule/.
#pragma once

#include "base/result.h"
#include "loop/loop.h"

namespace lathe {

// An Error (illegal_schedule) that names the statement and the tensor or loop, unless every tensor that a
// block of main reads, writes or fetches is an argument, prepared, a table or under its Alloc, prepare
// touches none of main's buffers, and the loops that bindings and conditions name are around their block.
Status check_scopes(const Program& program);

}  // namespace lathe
