// Where a nest of threads reads or writes what other threads may have written or read since the last barrier,
// a barrier comes before it; loops are gone round once more for what their next iteration finds:
//
//   for k {                                     for k {
//     threads t: A.s[t] = A[k, t]                 barrier shared
//     threads t: C[t] += A.s[...]        ->       threads t: A.s[t] = A[k, t]
//   }                                             barrier shared
//                                                 threads t: C[t] += A.s[...] }
//
// Barriers lie outside of all thread loops, so that every thread of a block comes to each. None is needed for
// a buffer each of whose elements one thread alone touches. It runs after `distribute_registers`.
#pragma once

#include "loop/loop.h"

namespace lathe {

Program insert_barriers(const Program& program);

}  // namespace lathe
