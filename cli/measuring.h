// The worker that the commands run programs in.
#pragma once

#include "base/result.h"
#include "measure/measurer.h"

namespace lathe::cli {

// Starts it for so many cores; an Error where its executable is missing or the cores are more than there are.
Result<Measurer> start_measurer(int cores);

}  // namespace lathe::cli
