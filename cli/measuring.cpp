#include "cli/measuring.h"

#include "cli/executable.h"

namespace lathe::cli {

Result<Measurer> start_measurer(int cores) {
  MeasureOptions options;
  LATHE_TRY(options.worker_path, beside_executable("lathe-worker"));
  options.cores = cores;
  return Measurer::start(options);
}

}  // namespace lathe::cli
