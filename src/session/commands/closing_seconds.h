// What `tune` needs of its time once all is tuned: estimates, for the plan of a whole command.
#pragma once

#include <vector>

#include "artifact/compile_model.h"
#include "base/deadline.h"

namespace lathe {

// What it takes to compile programs once more, and to link and write artifacts: of a network, whose constants
// are transformed, and of operators.
double closing_seconds(const Network& network);
double closing_seconds(const std::vector<Task>& operators);
// To find out which of a network's programs are to have smaller weights, as far as a share of the time allows
// it; 0 where there is no end to it.
double limiting_seconds(const Network& network, double weights_limit, const Deadline& deadline);

}  // namespace lathe
