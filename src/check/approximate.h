// Numbers with a bound on how far those that a program computes in their place may be off: running error
// analysis (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 3.3). Values are in
// double, errors are absolute and not negative; 0: every right program has this very number; infinite: any
// number is right, as beside a pole. What is decided by a comparison that roundings may turn is off by all
// that lies between the sides. Plain functions of their arguments.
#pragma once

#include "expr/dag.h"

namespace lathe {

struct Approximate {
  double value = 0;
  double error = 0;

  bool is_exact() const { return error == 0; }
};

// The value as a program computes it in the type: to the error comes that of so many roundings, and what
// subnormal numbers lose. A float beyond the type is an infinity there.
Approximate rounded(DType dtype, Approximate exact, double roundings = 1);

// What an operation on approximate operands of this type gives; comparisons and logic give 0 or 1.
Approximate apply(DType dtype, UnaryOp op, Approximate a);
Approximate apply(DType dtype, BinaryOp op, Approximate a, Approximate b);
Approximate converted(DType from, DType to, Approximate a);
// The bits of one type as those of the other: of what is off and may have either sign, anything.
Approximate bits_kept(DType from, DType to, Approximate a);
// The side that a condition takes, where a rounding may turn the condition.
Approximate either(Approximate taken, Approximate other);

// The result of a reduction, term by term.
class ApproximateReduction {
 public:
  // Of values of this type.
  ApproximateReduction(Reduction reduction, DType dtype);
  void add(Approximate term);
  // The roundings of a sum stand for any order in which it is added up. They are taken for random: n terms
  // are off as the square root of n.
  Approximate result() const;

 private:
  Reduction reduction_;
  DType dtype_;
  double terms_ = 0;
  double value_;
  double errors_ = 0;   // of a sum: those of its terms
  double squares_ = 0;  // of a sum's terms
  // Of a choice: what it may be at least and at most. Of a product: `most_` is the largest magnitude.
  double least_;
  double most_;
};

}  // namespace lathe
