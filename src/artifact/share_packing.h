// Has the plans of a network with free sizes read constants that lie once: a program that packs them as that
// of the largest sizes does takes the place of one that packs them otherwise, unless that is clearly faster
// and there is room for it.
#pragma once

#include <string>
#include <vector>

#include "artifact/compile_model.h"
#include "base/result.h"

namespace lathe {

// How the program packs and prepares its constants, in text: kernels with the same text read the same bytes
// of the same constants.
std::string packing_of(const CompiledTask& compiled);

// `compiled` has one program for each task of the network. Programs are raced where the options have a runner
// and the watch's deadline leaves the time, else what shares is taken.
Status share_packing(const Network& network, const CompileModelOptions& options,
                     std::vector<CompiledTask>& compiled);

}  // namespace lathe
