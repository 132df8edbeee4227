// Brings a network's programs within the limit of its weights (CompileModelOptions::weights_limit).
#pragma once

#include <vector>

#include "artifact/compile_model.h"

namespace lathe {

// `compiled` has one program for each task of the network; those that give way are replaced, not compared
// with anything. Their times are what the records say, or else the analytic model, on the
// scale of the records. The options' note is told
// what it cost, and where the limit cannot be met.
Status limit_weights(const Network& network, const CompileModelOptions& options,
                     std::vector<CompiledTask>& compiled);

}  // namespace lathe
