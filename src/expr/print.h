// The text form of expressions and Dags, read back by expr/parse.h: parse(print(x)) has the structure of x.
// Names are printed as they are; only a verified Dag (expr/dag.h) is sure to be readable again.
#pragma once

#include <string>

#include "expr/dag.h"
#include "expr/expr.h"

namespace lathe {

// "A[i, r] * B[r, j] + 1.0"; parentheses only where the tree needs them.
std::string to_string(const Expr& e);
// The same, in parentheses unless it can stand as a factor: "(a + b)", "A[i]".
std::string to_factor(const Expr& e);
// "A[i + 1, j]".
std::string to_string(const Load& load);
// "i:1000, j:1001".
std::string to_string(const std::vector<Axis>& axes);
// "sum", "max", "min"; "none" for none.
const char* to_string(Reduction reduction);
// The function's name or the operator's sign.
const char* to_string(UnaryOp op);
const char* to_string(BinaryOp op);

// "C[i:1000, j:1001] = sum(r:999) A[i, r] * B[r, j]", without a line end.
std::string to_string(const Compute& compute);
// A line each: inputs and outputs where reading would not find them by itself, tables, computes.
std::string to_string(const Dag& dag);

}  // namespace lathe
