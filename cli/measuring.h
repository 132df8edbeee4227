// The worker that the commands run programs in.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "measure/measurer.h"

namespace lathe::cli {

// What lies in shared memory from one program to the next.
enum class KeptInputs : uint8_t {
  all,      // inputs of many tasks, to which a search comes back
  present,  // those of the program that is checked: others follow it, and none comes again
};
// Starts it for so many cores; an Error where its executable is missing or the cores are more than there are.
Result<Measurer> start_measurer(int cores, KeptInputs kept = KeptInputs::all);

}  // namespace lathe::cli
