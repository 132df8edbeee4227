// Brings a network's programs within the limit of its weights (CompileModelOptions::weights_limit).
#pragma once

#include <vector>

#include "artifact/compile_model.h"

namespace lathe {

// `compiled` has one program for each task of the network; those that give way are replaced. With a runner
// programs are measured and the new ones compared; without one, or where the watch's deadline leaves no time
// for that, their times are what the records say, or estimates.
Status limit_weights(const Network& network, const CompileModelOptions& options,
                     std::vector<CompiledTask>& compiled);

}  // namespace lathe
