// Has the plans of a network with free sizes read constants that lie once: a program that packs them as that
// of the largest sizes does takes the place of one that packs them otherwise. Two packings are kept where
// some programs are clearly faster for it and there is room, and the largest sizes give theirs up where the
// others gain more by it than these lose: each size that kernels are made for counts as much, by the
// logarithm of its time.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "artifact/compile_model.h"
#include "artifact/race_programs.h"
#include "base/deadline.h"
#include "base/result.h"

namespace lathe {

// How the program packs and prepares its constants, in text: kernels with the same text read the same bytes
// of the same constants.
std::string packing_of(const CompiledTask& compiled);

// Seconds of a run of each of a task's programs, as race_programs gives them.
using RacePrograms = std::function<Result<std::optional<std::vector<double>>>(
    std::span<const CompiledTask> programs, const Deadline& deadline)>;

// `compiled` has one program for each task of the network. Programs are raced where the options have a runner
// and the watch's deadline leaves the time, else what shares is taken.
Status share_packing(const Network& network, const CompileModelOptions& options,
                     std::vector<CompiledTask>& compiled, const RacePrograms& race = race_programs);

}  // namespace lathe
