#include "cli/measuring.h"

#include "cli/executable.h"

namespace lathe::cli {

Result<Measurer> start_measurer(int cores, KeptInputs kept) {
  MeasureOptions options;
  LATHE_TRY(options.worker_path, beside_executable("lathe-worker"));
  options.cores = cores;
  if (kept == KeptInputs::present) options.input_bytes = 0;
  return Measurer::start(options);
}

}  // namespace lathe::cli
