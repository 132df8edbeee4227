// Runs another program to its end: the compiler that links artifacts.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace lathe {

// Runs `arguments[0]`, found in the PATH, with these arguments and without input; what it prints goes into
// the file `output`. An Error where it cannot be started or ends with another status than 0; then with the
// first lines of what it printed as notes.
Status run_program(const std::vector<std::string>& arguments, const std::string& output);

}  // namespace lathe
