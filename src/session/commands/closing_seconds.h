// What `tune` needs of its time once all is tuned: estimates, for the plan of a whole command.
#pragma once

#include <vector>

#include "artifact/compile_model.h"

namespace lathe {

// What it takes to compile programs once more, and to link and write artifacts: of a network, whose constants
// are transformed, and of operators.
double closing_seconds(const Network& network);
double closing_seconds(const std::vector<Task>& operators);

}  // namespace lathe
