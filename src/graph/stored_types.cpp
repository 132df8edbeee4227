#include "graph/stored_types.h"

namespace lathe {

bool keeps_stored_type(const GraphOp& op) {
  return moves_elements(op) && role_of(op) != FusionRole::elementwise && role_of(op) != FusionRole::border;
}

bool takes_stored_factors(const GraphOp& op) {
  return std::holds_alternative<ConvOp>(op) || std::holds_alternative<ConvTransposeOp>(op) ||
         std::holds_alternative<GemmOp>(op) || std::holds_alternative<MatMulOp>(op);
}

}  // namespace lathe
