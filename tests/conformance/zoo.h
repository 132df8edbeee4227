// Small tasks with schedules that between them use every kind of node that lowering leaves: what each backend
// must compute as the interpreter does.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace lathe::testing {

struct ZooCase {
  std::string name;
  std::string dag;                          // as text (expr/parse.h)
  std::vector<std::string> constants = {};  // inputs that may be transformed beforehand
  std::string trace = {};
  bool free_layouts = false;
};

inline void PrintTo(const ZooCase& zoo_case, std::ostream* stream) { *stream << zoo_case.name; }

const std::vector<ZooCase>& zoo();

}  // namespace lathe::testing
