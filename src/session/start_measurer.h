// The worker that programs are run in.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "measure/measurer.h"

namespace lathe {

// What lies in shared memory from one program to the next.
enum class KeptInputs : uint8_t {
  all,      // inputs of many tasks, to which a search comes back
  present,  // those of the program that is checked: others follow it, and none comes again
};
// Starts the executable `worker` for so many cores; an Error where it is missing or the cores are more than
// there are.
Result<Measurer> start_measurer(const std::string& worker, int cores, KeptInputs kept = KeptInputs::all);

// The same for each thread that calls what this gives, for programs that are checked
// (CompileModelOptions::another_runner).
std::function<Result<std::unique_ptr<CandidateRunner>>()> more_measurers(const std::string& worker,
                                                                         int cores);

}  // namespace lathe
