// Runs another program to its end: the compiler that links artifacts.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace lathe {

// Runs `arguments[0]`, found in the PATH, with these arguments and without input. An Error, which goes on
// after "the program", where it cannot be started or ends with another status than 0; then with the line
// that says most of what it printed.
Status run_program(const std::vector<std::string>& arguments);

}  // namespace lathe
