// An operator written as a formula.
#pragma once

#include <string>
#include <vector>

#include "lathe/computation.h"
#include "lathe/target.h"

namespace lathe {

struct Formula {
  // "C[i:1000, j:1001] = sum(r:999) A[i,r] * B[r,j]": docs/formulas.md.
  std::string text;
  // Inputs whose values are known beforehand: they may be transformed, which is not timed.
  std::vector<std::string> constants = {};
  std::string name = "operator";
  // No program in which an infinity or NaN reaches results beside those that read it.
  bool exact_specials = false;
};

// An Error says where the text is wrong, or which name is no input's.
Result<Computation> make_operator(const Formula& formula, const TargetChoice& target = {});

}  // namespace lathe
