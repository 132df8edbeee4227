// An artifact on inputs from .npy files, and how long it takes, as `lathe run` does it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "session/commands/kernel_table.h"
#include "session/commands/latency.h"

namespace lathe {

struct RunRequest {
  std::string folder;
  std::vector<std::string> inputs;    // [NAME=]X.npy: by its name, the others in order
  std::vector<std::string> outputs;   // the same; not all need be given
  int repeat = 30;                    // samples that the latency is the median of
  bool random = false;                // random values for each input that is not given
  std::optional<uint64_t> seed = {};  // of these; none: 1
  // Of these, free sizes by their names; others have their largest.
  std::map<std::string, int64_t> sizes = {};
  bool each_run = false;   // time single runs too
  bool profile = false;    // say where the time goes
  std::string json = {};   // the file for all that was measured; empty: none
  std::string trace = {};  // the file for a timeline of some runs; empty: none
};

struct RunResult {
  Latency latency;
  std::vector<double> runs = {};            // seconds of single runs, where they were asked for
  std::optional<KernelTable> kernels = {};  // where the time goes, where it was asked for
};

// Runs once, writes the outputs, then times, and writes the files of --json and --trace. An Error names the
// file, input or option at fault.
Result<RunResult> run_artifact(const RunRequest& request);

}  // namespace lathe
