// Each allocated buffer shrinks to the box that is touched under its Alloc, or grows to it where
// `drop_padding` lets blocks compute beyond the bounds.
//
//   alloc T[1000]: for j in 8: T[8*i + j] = ..    ->    alloc T[8]: for j in 8: T[j] = ..
//
// The box comes from loop/region.h, which does not look at conditions; its base is subtracted from every
// index. It runs on stores with logical indices, before `flatten_buffers` turns them into offsets.
#pragma once

#include "loop/loop.h"

namespace lathe {

Program compact_buffers(const Program& program);

}  // namespace lathe
