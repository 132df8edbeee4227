#include "cli/tune_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/console.h"

namespace lathe::cli {
namespace {

std::string microseconds(double seconds) {
  return seconds > 0 ? fmt::format("{:.3f} us", seconds * 1e6) : "-";
}

// How wide a form's column is.
size_t width_of(const PeerFigure& peer) { return std::max<size_t>(12, peer.form.size()); }

std::string peer_titles(const CaseReport& row) {
  if (row.peers.empty()) return "";
  std::string line;
  for (const PeerFigure& peer : row.peers) line += fmt::format(" {:>{}}", peer.form, width_of(peer));
  return line + fmt::format(" {:>8}", "speed-up");
}

std::string peer_columns(const CaseReport& row) {
  if (row.peers.empty()) return "";
  std::string line;
  for (const PeerFigure& peer : row.peers) {
    line += fmt::format(" {:>{}}", microseconds(peer.seconds), width_of(peer));
  }
  const std::optional<double> ratio = speed_up_of(row);
  return line + fmt::format(" {:>8}", ratio ? fmt::format("{:.2f}", *ratio) : "-");
}

void print_mean_speed_up(const std::vector<CaseReport>& rows) {
  const std::optional<MeanSpeedUp> mean = mean_speed_up(rows);
  if (!mean) return;
  to_stdout("speed-up over the fastest peer, geometric mean of {} case{}: {:.2f}\n", mean->cases,
            mean->cases == 1 ? "" : "s", mean->ratio);
}

void note_what_exceeds_the_peak(const std::vector<CaseReport>& rows, const Target& target) {
  const AbovePeak above = above_peak(rows, target);
  if (above.names.empty()) return;
  to_stdout(
      "GFLOP/s count the operations of the formula as it is written; Winograd's algorithm, factored sums and "
      "zeros left out take fewer, and some instructions do several of narrow types at once, so that these "
      "exceed the {:.1f} that the machine reaches in single precision: {}\n",
      above.gflops, fmt::join(above.names, ", "));
}

}  // namespace

void print_report(const std::vector<CaseReport>& rows, const Target& target) {
  size_t width = 32;
  for (const CaseReport& row : rows) width = std::max(width, row.result.name.size());
  to_stdout("{:<{}} {:>5} {:>12} {:>9} {:>7} {:>7} {:>7} {:>9}{}\n", "name", width, "uses", "best", "GFLOP/s",
            "trials", "failed", "wall", "rel.error", rows.empty() ? "" : peer_titles(rows.front()));
  for (const CaseReport& row : rows) {
    const TuneProgress& progress = row.result.progress;
    to_stdout("{:<{}} {:>5} {:>12} {:>9} {:>7} {:>7} {:>6.1f}s {:>9}{}\n", row.result.name, width, row.uses,
              microseconds(progress.best_seconds),
              has_program(row) ? fmt::format("{:.1f}", gflops_of(row)) : "-", progress.trials,
              progress.failed, row.result.wall_seconds,
              row.result.winner && !row.result.winner->only_sampled
                  ? fmt::format("{:.1e}", row.result.winner->largest_difference)
                  : "-",
              peer_columns(row));
  }
  note_what_exceeds_the_peak(rows, target);
  print_mean_speed_up(rows);
}

void report_stop(const char* signal, const std::string& records) {
  to_stderr(
      "lathe: stopped by {}; what was measured is kept in {}, and the same command goes on from there\n",
      signal, records);
}

void report_enough(const std::vector<CaseReport>& rows) {
  for (const CaseReport& row : rows) {
    if (!row.result.reached) continue;
    to_stderr(
        "lathe: note: {}: the search ended after {} trials, for its program has {:.0f} % of the speed that "
        "this "
        "machine's peaks allow (--enough tells when to end)\n",
        row.result.name, row.result.progress.trials, 100 * *row.result.reached);
  }
}

void report_sampled(const std::vector<CaseReport>& rows) {
  std::string names;
  std::string why;
  for (const CaseReport& row : rows) {
    if (!row.result.winner || !row.result.winner->only_sampled) continue;
    names += (names.empty() ? "" : ", ") + row.result.name;
    if (why.empty()) why = *row.result.winner->only_sampled;
  }
  if (names.empty()) return;
  to_stderr(
      "lathe: note: only a sample of what the best program computes was compared with the reference, {} "
      "(a longer --time, or `lathe compile --check full`, compares everything): {}\n",
      why, names);
}

void report_failures(const std::vector<CaseReport>& rows) {
  std::string told;
  for (const FailedTrials& trials : failed_trials(rows))
    told += fmt::format("{}{} {} ({}{}: {})", told.empty() ? "" : "; ", trials.count, to_string(trials.kind),
                        trials.count > 1 ? "first " : "", trials.name, trials.message);
  if (told.empty()) return;
  to_stderr("lathe: note: failed trials, which cost time and nothing else: {}\n", told);
}

void warn_of_noise(const std::vector<CaseReport>& rows) {
  const CaseReport* const worst = noisiest(rows);
  if (worst == nullptr) return;
  to_stderr(
      "lathe: warning: the machine was busy with something else: {} took up to {:.2f} times as long, and its "
      "time is uncertain by {:.0f} %; keep lathe to idle cores (`taskset -c 2,3 lathe tune ..`, or fewer "
      "--cores), and let `lathe bench` measure it again\n",
      worst->result.name, worst->result.progress.slowest_pace, 100 * worst->result.progress.best_spread);
}

void warn_of_untuned(const std::vector<CaseReport>& rows) {
  for (const CaseReport& row : rows) {
    if (row.op != "network" || row.result.progress.trials > 0 || !row.result.untunable) continue;
    to_stderr("lathe: warning: {} is not tuned: {}\n", row.result.name, reason_of(row.result));
  }
}

void report_untried(const std::vector<CaseReport>& rows, bool is_written) {
  const auto untried = std::ranges::count_if(rows, is_untried);
  const bool is_network = !rows.empty() && rows.front().op == "network";
  // Of operators that are not written check_all_found says more.
  if (untried == 0 || (!is_network && !is_written)) return;
  to_stderr("lathe: note: nothing was tried for {} of {} {} in the time given{}\n", untried, rows.size(),
            is_network ? "tasks" : "operators",
            is_written ? ", which are written as `lathe compile` with these records writes them" : "");
}

}  // namespace lathe::cli
