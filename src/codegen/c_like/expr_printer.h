// Expressions as text of a C-like language, one lane at a time: a vector operation is printed as what lane
// `lane` of it is, inside a loop over the lanes. Parts that an expression shares become variables.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "codegen/c_like/code.h"
#include "codegen/c_like/dialect.h"
#include "codegen/c_like/names.h"
#include "expr/expr.h"

namespace lathe::c_like {

class ExprPrinter {
 public:
  ExprPrinter(const Dialect& dialect, Names& names) : dialect_(dialect), names_(names) {}

  // What is known of the variables, for divisions.
  Ranges& ranges() { return ranges_; }
  // Starts a statement: counts what its expressions share. `lane` names the lane variable, empty for scalars.
  void begin_statement(const std::vector<Expr>& expressions, std::string lane);
  // The value as an operand; variables that it needs go to `code` before.
  std::string print(const Expr& e, Code& code);
  std::string print(const Affine& a, Code& code);
  // "A[offset]" at the present lane.
  std::string element(const Tensor& tensor, const Affine& offset, int64_t stride, Code& code);

 private:
  using Scope = std::map<const ExprNode*, std::string>;

  std::string visit(const Literal& e, const Expr& self, Code& code);
  std::string visit(const Index& e, const Expr& self, Code& code);
  std::string visit(const Load& e, const Expr& self, Code& code);
  std::string visit(const Unary& e, const Expr& self, Code& code);
  std::string visit(const Binary& e, const Expr& self, Code& code);
  std::string visit(const Select& e, const Expr& self, Code& code);
  std::string visit(const Cast& e, const Expr& self, Code& code);
  std::string visit(const Broadcast& e, const Expr& self, Code& code);
  std::string visit(const BitCast& e, const Expr& self, Code& code);
  std::string visit(const Ramp& e, const Expr& self, Code& code);
  std::string visit(const Call& e, const Expr& self, Code& code);

  // Element number t of a factor's group, as the intrinsic's result.
  std::string element_of_group(const Expr& factor, DType result, int group, int t, Code& code);
  std::string choose(const std::string& condition, const Expr& if_true, const Expr& if_false, Code& code);
  std::string atom(const AtomNode& atom, Code& code);
  std::string term(const Affine::Term& term, Code& code);
  std::string bind(const std::string& value, const Expr& e, Code& code);
  void count_uses(const Expr& e);

  const Dialect& dialect_;
  Names& names_;
  Ranges ranges_;
  std::string lane_;
  std::map<const ExprNode*, int> uses_;
  std::vector<Scope> scopes_;
};

}  // namespace lathe::c_like
