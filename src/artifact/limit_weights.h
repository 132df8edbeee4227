// Brings a network's programs within the limit of its weights (CompileModelOptions::weights_limit).
#pragma once

#include <vector>

#include "artifact/compile_model.h"

namespace lathe {

// `compiled` has one program for each task of the network; those that give way are replaced. With a runner
// programs are measured, of those tasks first that can save most, and the new ones compared; without one, or
// where the watch's deadline leaves no time for that, their times are what the records say, or estimates.
// The options' note is told what it cost, and where the limit cannot be met.
Status limit_weights(const Network& network, const CompileModelOptions& options,
                     std::vector<CompiledTask>& compiled);

// What that takes where the programs that tuning would begin with need it; 0 where they do not.
double limiting_seconds(const Network& network, double weights_limit);

}  // namespace lathe
