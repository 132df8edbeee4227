// The model of a network: which kernels run in which order on which memory, and where each constant lies in
// weights.bin. Pure.
#pragma once

#include <vector>

#include "artifact/model.h"
#include "artifact/plan_network.h"
#include "base/result.h"

namespace lathe {

// `compiled` has one entry for each of the network's tasks. All plans read the constants that they pack alike
// from one place. An Error where it computes nothing.
Result<Model> network_model(const Network& network, std::vector<CompiledTask> compiled);

}  // namespace lathe
