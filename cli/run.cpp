// lathe run: an artifact on inputs from .npy files, and how long it takes.
#include <memory>
#include <numeric>

#include "cli/command.h"
#include "cli/console.h"
#include "session/commands/run_artifact.h"

namespace lathe::cli {
namespace {

// The line that scripts read; no other on stdout has a figure followed by "ms".
void print_latency(const Latency& latency) {
  to_stdout("latency: {:.{}f} ms (median of {}, spread {:.1f} %)\n", latency.seconds * 1e3,
            latency.seconds < 1e-4 ? 5 : 3, latency.samples, latency.spread * 100);
}

void print_percentiles(const std::vector<double>& runs) {
  const auto microseconds = [&](double share) { return percentile_of(runs, share) * 1e6; };
  to_stdout("percentiles of {} run{}: p50 {:.2f} us, p90 {:.2f} us, p99 {:.2f} us\n", runs.size(),
            runs.size() == 1 ? "" : "s", microseconds(0.5), microseconds(0.9), microseconds(0.99));
  const double total = std::accumulate(runs.begin(), runs.end(), 0.0);
  to_stdout("throughput: {:.1f} runs/s, one after another\n", static_cast<double>(runs.size()) / total);
}

Status run(const RunRequest& request) {
  LATHE_TRY(const RunResult result, run_artifact(request));
  print_latency(result.latency);
  if (request.each_run) print_percentiles(result.runs);
  return {};
}

}  // namespace

void add_run(CLI::App& app, Action& chosen) {
  OptionSet command = add_command(app, "run", "run an artifact on .npy files and time it");
  const auto options = std::make_shared<RunRequest>();
  command.text("DIR", options->folder, "the artifact's folder", {.is_required = true});
  command.texts("--input", options->inputs, "[NAME=]X.npy for each input: by its name, the others in order");
  command.texts("--output", options->outputs, "[NAME=]Y.npy for an output: by its name, the others in order");
  command.flag("--random", options->random, "random values for each input that --input does not give");
  command.number("--seed", options->seed, "of --random; default: 1");
  command.flag("--percentiles", options->each_run,
               "also print percentiles of the time of a run, and the throughput");
  command.number("--repeat", options->repeat, "how many samples the latency is the median of", {1, 1000000},
                 {.shows_default = true});
  command.action(chosen, [options] { return run(*options); });
}

}  // namespace lathe::cli
