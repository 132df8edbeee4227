// Reads the text form of loop programs (loop/print.h has its shape, expr/parse.h that of values).
//
//   program ::= { (input | constant | output) NAME : TYPE[extent, ..] LAYOUT [free]
//             | prepared NAME : TYPE[extent, ..] LAYOUT | table NAME : TYPE[extent, ..] = { number, .. } }
//               [flat] [prepare { stmt* }] main { stmt* }
//   stmt    ::= (for | unroll | vector | parallel) NAME in (extent | min(extent, ..)) { stmt* }
//             | alloc NAME : TYPE[extent, ..] (registers | thread | workspace) LAYOUT { stmt* }
//             | if condition, .. { stmt* }
//             | block NAME [where condition, ..] { { [reduce] NAME : extent = binding [tail] } access update
//             } | store access = expr | prefetch access
//   update  ::= [init] [sum | max | min] = expr
//   condition ::= value < bound [axis N] [tail]
//
// A loop's name must be free around it; blocks see their axes only, all else the loops around. Layouts fit
// their shapes and stored values their tensors; everything else is for loop/verify.h. Never throws, whatever
// the text: an Error (parse) names line and column.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "loop/loop.h"

namespace lathe {

// `name` is what errors call the text.
Result<Program> parse_program(std::string_view text, const std::string& name = "program");

}  // namespace lathe
