#include "session/start_measurer.h"

#include <fmt/format.h>

#include <filesystem>

namespace lathe {

Result<Measurer> start_measurer(const std::string& worker, int cores, KeptInputs kept) {
  std::error_code error;
  if (!std::filesystem::exists(worker, error)) {
    return fail(ErrorKind::not_found,
                fmt::format("the program {} is missing, it belongs beside lathe",
                            std::filesystem::path(worker).filename().string()),
                worker);
  }
  MeasureOptions options;
  options.worker_path = worker;
  options.cores = cores;
  if (kept == KeptInputs::present) options.input_bytes = 0;
  return Measurer::start(options);
}

std::function<Result<std::unique_ptr<CandidateRunner>>()> more_measurers(const std::string& worker,
                                                                         int cores) {
  return [worker, cores]() -> Result<std::unique_ptr<CandidateRunner>> {
    LATHE_TRY(Measurer measurer, start_measurer(worker, cores, KeptInputs::present));
    return std::make_unique<Measurer>(std::move(measurer));
  };
}

}  // namespace lathe
