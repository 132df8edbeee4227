// The identity of a Dag: equal for equal structure whatever the names, on every machine and in every run.
#pragma once

#include <cstdint>

#include "expr/dag.h"

namespace lathe {

// Of a verified Dag. Axes count by position, tensors by their place among inputs and computes, tables by
// their values; the order of an index's terms does not matter.
uint64_t hash_of(const Dag& dag);

}  // namespace lathe
