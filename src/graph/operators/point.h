// One element of an element-wise operator, for lowering: its operands as scalar expressions at the place of
// that element.
#pragma once

#include <vector>

#include "expr/dag.h"

namespace lathe {

class PointOperands {
 public:
  // An undefined tensor stands for `running`, the value that the computation in front of the operator gives
  // here.
  PointOperands(std::vector<Axis> axes, std::vector<Tensor> operands, Expr running)
      : axes_(std::move(axes)), operands_(std::move(operands)), running_(std::move(running)) {}

  size_t count() const { return operands_.size(); }
  // An axis of the result, counted from the last.
  const Axis& axis_from_last(size_t back) const { return axes_[axes_.size() - 1 - back]; }
  // The operand, broadcast to the result by NumPy's rule.
  Expr at(size_t operand) const;
  // The operand, a vector with one element a channel, at the channel of the element (axis 1).
  Expr at_channel(size_t operand) const;

 private:
  std::vector<Axis> axes_;  // of the result
  std::vector<Tensor> operands_;
  Expr running_;
};

}  // namespace lathe
