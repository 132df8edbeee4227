// Small tasks with schedules that between them use every kind of node that lowering leaves: what each backend
// must compute as the interpreter does.
#pragma once

#include <initializer_list>
#include <ostream>
#include <span>

namespace lathe::testing {

struct ZooCase {
  const char* name;
  const char* dag;                                    // as text (expr/parse.h)
  std::initializer_list<const char*> constants = {};  // inputs that may be transformed beforehand
  const char* trace = "";
  bool free_layouts = false;
};

inline void PrintTo(const ZooCase& zoo_case, std::ostream* stream) { *stream << zoo_case.name; }

std::span<const ZooCase> zoo();

}  // namespace lathe::testing
