#include "graph/operators/point.h"

namespace lathe {

Expr PointOperands::at(size_t operand) const {
  if (const auto* value = std::get_if<Expr>(&operands_[operand])) return *value;
  const Tensor& tensor = std::get<Tensor>(operands_[operand]);
  const size_t skipped = axes_.size() - tensor->shape.size();
  std::vector<Affine> index;
  for (size_t d = 0; d < tensor->shape.size(); ++d) {
    const Axis& axis = axes_[skipped + d];
    index.push_back(tensor->shape[d] == axis.extent ? Affine(axis.var) : Affine(0));
  }
  return load(tensor, std::move(index));
}

Expr PointOperands::at_channel(size_t operand) const {
  return load(std::get<Tensor>(operands_[operand]), {Affine(axes_[1].var)});
}

}  // namespace lathe
