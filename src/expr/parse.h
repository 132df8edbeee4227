// Reads the text form of expressions and Dags (expr/print.h). Never throws, whatever the text.
//
//   dag      ::= { statement [;] }
//   statement::= input NAME [ extent, .. ] [type] | table NAME [ extent, .. ] = { number, .. } | output NAME
//              | NAME [ axis:extent, .. ] = [ (sum | max | min | product) ( axis:extent, .. ) ] expr
//   expr     ::= || over && over (< <= > >= == !=) over + - over * / % over prefix - ! over
//              ( number | true | false | axis | NAME [ expr, .. ] | FUNCTION ( expr, .. ) | ( expr ) )
//   FUNCTION ::= exp log sqrt tanh erf sin cos abs floor ceil round truncate | min max pow copy_sign | select
//              | a type, which casts (docs/formulas.md)
//
// Flattened programs (loop/loop.h) add vectors: `A[offset; lanes by stride if mask]`, `broadcast(e, lanes)`,
// `ramp(base, stride, lanes)`, and literals such as `f32x8(0.5)`; each access has one index, the offset.
//
// Comments run from # to the end of the line. Without declarations, inputs are the tensors that no compute
// above gives, in order of first use, f32 (i32 where first read inside an index), as large as the largest
// index; declared inputs come first. Without `output`, the computes that nobody reads are the outputs.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/text_cursor.h"
#include "expr/dag.h"

namespace lathe {

// What names mean around an expression.
struct ExprNames {
  // The value of a name that is followed by no bracket; undefined if there is none.
  std::function<Expr(const std::string& name)> variable;
  // The tensor of a name with `rank` indices, `inside_index` if it is read inside of an index; undefined if
  // there is none.
  std::function<Tensor(const std::string& name, size_t rank, bool inside_index)> tensor;
  // What is known of the variables: guards the integers against overflow.
  Ranges ranges;
  bool flat = false;  // whether the forms of flattened programs are read
};

// Reads as much as is an expression. Types are checked; the Error names line and column.
Result<Expr> parse_expr(TextCursor& cursor, const ExprNames& names);
// The same for an integer expression.
Result<Affine> parse_affine(TextCursor& cursor, const ExprNames& names);

// The verified Dag; `name` is what errors call the text.
Result<Dag> parse_dag(std::string_view text, const std::string& name = "expression");

}  // namespace lathe
