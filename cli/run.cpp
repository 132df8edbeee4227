// lathe run: an artifact on inputs from .npy files, and how long it takes.
#include <fmt/format.h>

#include <charconv>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

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

std::string rounded(const std::optional<double>& value, int digits) {
  return value ? fmt::format("{:.{}f}", *value, digits) : "-";
}

void print_kernel(const KernelRow& row) {
  const std::string number = row.launch ? std::to_string(*row.launch) : "";
  const std::string of_bound = row.of_bound ? fmt::format("{:.0f} %", *row.of_bound * 100) : "-";
  const std::string operators = short_names(row.operators);
  to_stdout("{:>6} {:>11.2f} us {:>5.1f} % {:>8} {:>7} {:>8}  {:<11}  {:<24}  {}\n", number,
            row.seconds * 1e6, row.share * 100, rounded(billions_a_second(row.flops, row.seconds), 1),
            rounded(billions_a_second(row.bytes, row.seconds), 1), of_bound,
            row.limit ? words_of(*row.limit) : "-", operators.empty() ? "-" : operators, row.name);
}

void print_kernels(const KernelTable& table) {
  to_stdout("{:>6} {:>14} {:>7} {:>8} {:>7} {:>8}  {:<11}  {:<24}  {}\n", "launch", "time", "share",
            "GFLOP/s", "GB/s", "of bound", "bound by", "computes", "name");
  for (const KernelRow& row : table.rows) print_kernel(row);
  to_stdout("a timed run as a whole: {:.2f} us (medians of {} sample{} of {} run{})\n", table.seconds * 1e6,
            table.samples, table.samples == 1 ? "" : "s", table.runs, table.runs == 1 ? "" : "s");
  if (!table.roofline) return;
  const Roofline& peaks = *table.roofline;
  to_stdout("peaks on {} core{}: {:.1f} GFLOP/s, {:.1f} GB/s from L2, {:.1f} from L3, {:.1f} from memory\n",
            table.cores, table.cores == 1 ? "" : "s", peaks.gflops, peaks.gigabytes[0], peaks.gigabytes[1],
            peaks.gigabytes[2]);
}

// "batch=8" of each.
Result<std::map<std::string, int64_t>> sizes_of(const std::vector<std::string>& texts) {
  std::map<std::string, int64_t> sizes;
  for (const std::string& text : texts) {
    const size_t equals = text.rfind('=');
    int64_t size = 0;
    const char* const end = text.data() + text.size();
    const auto [next, code] =
        std::from_chars(text.data() + (equals == std::string::npos ? 0 : equals + 1), end, size);
    if (equals == std::string::npos || equals == 0 || code != std::errc() || next != end)
      return fail(ErrorKind::invalid_argument, fmt::format("'{}' is no size, it must look like NAME=8", text),
                  "--size");
    if (!sizes.emplace(text.substr(0, equals), size).second)
      return fail(ErrorKind::invalid_argument, fmt::format("'{}' gives a size a second time", text),
                  "--size");
  }
  return sizes;
}

struct RunCommand {
  RunRequest request;  // but for its sizes
  std::vector<std::string> sizes;
};

Status run(const RunCommand& command) {
  RunRequest request = command.request;
  LATHE_TRY(request.sizes, sizes_of(command.sizes));
  LATHE_TRY(const RunResult result, run_artifact(request));
  print_latency(result.latency);
  if (request.each_run) print_percentiles(result.runs);
  if (result.kernels) print_kernels(*result.kernels);
  return {};
}

}  // namespace

void add_run(CLI::App& app, Action& chosen) {
  OptionSet command = add_command(app, "run", "run an artifact on .npy files and time it");
  const auto chosen_options = std::make_shared<RunCommand>();
  RunRequest* const options = &chosen_options->request;
  command.text("DIR", options->folder, "the artifact's folder", {.is_required = true});
  command.texts("--input", options->inputs, "[NAME=]X.npy for each input: by its name, the others in order");
  command.texts("--output", options->outputs, "[NAME=]Y.npy for an output: by its name, the others in order");
  command.flag("--random", options->random, "random values for each input that --input does not give");
  command.number("--seed", options->seed, "of --random; default: 1");
  command.texts("--size", chosen_options->sizes, "NAME=8 for a free size of --random; default: the largest");
  command.flag("--percentiles", options->each_run,
               "also print percentiles of the time of a run, and the throughput");
  command.flag("--profile", options->profile,
               "also print where the time goes: each kernel, conversions, and what is between kernels");
  command.text("--trace", options->trace, "write a timeline of some runs there: Chrome's trace events");
  command.text("--json", options->json, "write what was measured there");
  command.number("--repeat", options->repeat, "how many samples the latency is the median of", {1, 1000000},
                 {.shows_default = true});
  command.action(chosen, [chosen_options] { return run(*chosen_options); });
}

}  // namespace lathe::cli
