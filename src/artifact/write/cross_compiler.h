// Where an artifact's library is made for another architecture than this program's own.
#pragma once

#include <string_view>

namespace lathe {

struct CrossCompiler {
  std::string_view target;   // of the artifact: its name in the table of targets
  std::string_view command;  // a C++ compiler, looked up in the PATH
  std::string_view package;  // of Debian, that has it
};

// Null where there is none for the target of that name.
const CrossCompiler* find_cross_compiler(std::string_view target);

}  // namespace lathe
