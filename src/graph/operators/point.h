// One element of an element-wise operator, for lowering: its operands as scalar expressions at the place of
// that element.
#pragma once

#include <variant>
#include <vector>

#include "expr/dag.h"

namespace lathe {

// A tensor in memory, which broadcasts to the result's shape; or what a computation in front of the operator
// gives at the result's element.
using PointOperand = std::variant<Tensor, Expr>;

class PointOperands {
 public:
  PointOperands(std::vector<Axis> axes, std::vector<PointOperand> operands)
      : axes_(std::move(axes)), operands_(std::move(operands)) {}

  size_t count() const { return operands_.size(); }
  // An axis of the result, counted from the last.
  const Axis& axis_from_last(size_t back) const { return axes_[axes_.size() - 1 - back]; }
  // The operand, broadcast to the result by NumPy's rule.
  Expr at(size_t operand) const;
  // The operand, a vector in memory with one element a channel, at the channel of the element (axis 1).
  Expr at_channel(size_t operand) const;

 private:
  std::vector<Axis> axes_;  // of the result
  std::vector<PointOperand> operands_;
};

}  // namespace lathe
