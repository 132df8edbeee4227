// Which operators take elements as they are stored where nothing is computed in their type (f16, bf16). All
// others widen them where they read them, and compute in f32.
#pragma once

#include "graph/graph.h"

namespace lathe {

// Whether its result has the type of its operands, whatever that is: of an operator that moves elements, but
// for element-wise ones.
bool keeps_stored_type(const GraphOp& op);
// Whether it adds up products of its first two operands, and its `lower` takes both as they are stored where
// both are of one type: machines multiply such numbers at once.
bool takes_stored_factors(const GraphOp& op);

}  // namespace lathe
