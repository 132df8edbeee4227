#include "cli/tune_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/write_file.h"
#include "cli/console.h"
#include "measure/peak.h"
#include "measure/statistics.h"

namespace lathe::cli {
namespace {

using nlohmann::ordered_json;

// Candidates of one search differ by less once it has come near the best.
constexpr double kNoisyPace = 1.2;
// Medians of programs that race differ by less.
constexpr double kUncertain = 0.05;

double gflops(const ReportRow& row) {
  return static_cast<double>(row.flops) / row.result.progress.best_seconds * 1e-9;
}

std::string microseconds(double seconds) {
  return seconds > 0 ? fmt::format("{:.3f} us", seconds * 1e6) : "-";
}

// None where either side has no figure.
std::optional<double> speed_up(const ReportRow& row) {
  std::optional<double> least;
  for (const PeerFigure& peer : row.peers) {
    if (peer.ratios.empty()) continue;
    const double ratio = median(peer.ratios);
    if (!least || ratio < *least) least = ratio;
  }
  return least;
}

// How wide a form's column is.
size_t width_of(const PeerFigure& peer) { return std::max<size_t>(12, peer.form.size()); }

std::string peer_titles(const ReportRow& row) {
  if (row.peers.empty()) return "";
  std::string line;
  for (const PeerFigure& peer : row.peers) line += fmt::format(" {:>{}}", peer.form, width_of(peer));
  return line + fmt::format(" {:>8}", "speed-up");
}

std::string peer_columns(const ReportRow& row) {
  if (row.peers.empty()) return "";
  std::string line;
  for (const PeerFigure& peer : row.peers) {
    line += fmt::format(" {:>{}}", microseconds(peer.seconds), width_of(peer));
  }
  const std::optional<double> ratio = speed_up(row);
  return line + fmt::format(" {:>8}", ratio ? fmt::format("{:.2f}", *ratio) : "-");
}

void print_mean_speed_up(const std::vector<ReportRow>& rows) {
  double logarithms = 0;
  int cases = 0;
  for (const ReportRow& row : rows) {
    const std::optional<double> ratio = speed_up(row);
    if (!ratio) continue;
    logarithms += std::log(*ratio);
    ++cases;
  }
  if (cases == 0) return;
  to_stdout("speed-up over the fastest peer, geometric mean of {} case{}: {:.2f}\n", cases,
            cases == 1 ? "" : "s", std::exp(logarithms / cases));
}

ordered_json json_of(const ReportRow& row) {
  const TuneProgress& progress = row.result.progress;
  ordered_json entry = {{"name", row.result.name},
                        {"op", row.op},
                        {"flops", row.flops},
                        {"bytes", row.bytes},
                        {"seconds", nullptr},
                        {"spread", nullptr},
                        {"gflops", nullptr},
                        {"trials", progress.trials},
                        {"failed", progress.failed},
                        {"wall_seconds", row.result.wall_seconds},
                        {"cores", row.cores},
                        {"target", row.target},
                        {"strategy", row.strategy},
                        {"layout", row.layout},
                        {"slowest_pace", progress.slowest_pace},
                        {"largest_difference", nullptr},
                        {"tolerance", nullptr}};
  if (row.op == "network") entry["uses"] = row.uses;
  if (row.result.reached) entry["reached"] = *row.result.reached;
  if (row.result.winner) {
    entry["record"] = row.result.winner->record;
    if (!row.result.winner->only_sampled) {
      entry["largest_difference"] = row.result.winner->largest_difference;
      entry["tolerance"] = row.result.winner->tolerance;
    }
    entry["checked"] = row.result.winner->only_sampled ? "sampled" : "full";
  }
  for (const FailureCount& failure : row.result.failures)
    entry["failures"][to_string(failure.first.kind)] = failure.count;
  if (!row.peers.empty()) entry["peers"] = ordered_json::object();
  for (const PeerFigure& peer : row.peers) {
    if (peer.seconds > 0) entry["peers"][peer.form] = peer.seconds;
    if (!peer.ratios.empty()) entry["ratios"][peer.form] = peer.ratios;
  }
  if (const std::optional<double> ratio = speed_up(row)) entry["speedup"] = *ratio;
  if (progress.best_seconds == 0) return entry;
  entry["seconds"] = progress.best_seconds;
  entry["spread"] = progress.best_spread;
  entry["gflops"] = gflops(row);
  return entry;
}

// Measured peaks repeat within some per cent.
constexpr double kAbovePeak = 1.03;

bool has_program(const ReportRow& row) { return row.result.progress.best_seconds > 0; }

void note_what_exceeds_the_peak(const std::vector<ReportRow>& rows, const Target& target) {
  if (std::ranges::none_of(rows, has_program)) return;
  const double peak = measure_fma_gflops(with_cores(target, rows.front().cores));
  std::vector<std::string> names;
  for (const ReportRow& row : rows) {
    if (has_program(row) && gflops(row) > kAbovePeak * peak) names.push_back(row.result.name);
  }
  if (names.empty()) return;
  to_stdout(
      "GFLOP/s count the operations of the formula as it is written; Winograd's algorithm, factored sums and "
      "zeros left out take fewer, and some instructions do several of narrow types at once, so that these "
      "exceed the {:.1f} that the machine reaches in single precision: {}\n",
      peak, fmt::join(names, ", "));
}

// Why a case has no valid program.
std::string reason(const CaseResult& result) {
  if (result.untunable) return result.untunable->message;
  if (result.failures.empty()) return "nothing was tried in the time given";
  const MeasureFailure& usual = result.failures.front().first;
  return fmt::format("{} of {} trials failed, most often {}: {}", result.progress.failed,
                     result.progress.trials, to_string(usual.kind), usual.message);
}

}  // namespace

void print_report(const std::vector<ReportRow>& rows, const Target& target) {
  size_t width = 32;
  for (const ReportRow& row : rows) width = std::max(width, row.result.name.size());
  to_stdout("{:<{}} {:>5} {:>12} {:>9} {:>7} {:>7} {:>7} {:>9}{}\n", "name", width, "uses", "best", "GFLOP/s",
            "trials", "failed", "wall", "rel.error", rows.empty() ? "" : peer_titles(rows.front()));
  for (const ReportRow& row : rows) {
    const TuneProgress& progress = row.result.progress;
    to_stdout("{:<{}} {:>5} {:>12} {:>9} {:>7} {:>7} {:>6.1f}s {:>9}{}\n", row.result.name, width, row.uses,
              microseconds(progress.best_seconds),
              has_program(row) ? fmt::format("{:.1f}", gflops(row)) : "-", progress.trials, progress.failed,
              row.result.wall_seconds,
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

void report_enough(const std::vector<ReportRow>& rows) {
  for (const ReportRow& row : rows) {
    if (!row.result.reached) continue;
    to_stderr(
        "lathe: note: {}: the search ended after {} trials, for its program has {:.0f} % of the speed that "
        "this "
        "machine's peaks allow (--enough tells when to end)\n",
        row.result.name, row.result.progress.trials, 100 * *row.result.reached);
  }
}

void report_sampled(const std::vector<ReportRow>& rows) {
  std::string names;
  std::string why;
  for (const ReportRow& row : rows) {
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

void report_failures(const std::vector<ReportRow>& rows) {
  struct Kind {
    int64_t count = 0;
    std::string name;  // of the case that failed so first
    std::string message;
  };
  std::map<ErrorKind, Kind> kinds;
  int64_t failed = 0;
  for (const ReportRow& row : rows) {
    for (const FailureCount& failure : row.result.failures) {
      Kind& kind = kinds[failure.first.kind];
      if (kind.count == 0) kind = {0, row.result.name, failure.first.message};
      kind.count += failure.count;
      failed += failure.count;
    }
  }
  if (failed == 0) return;
  std::string told;
  for (const auto& [kind, what] : kinds)
    told += fmt::format("{}{} {} ({}{}: {})", told.empty() ? "" : "; ", what.count, to_string(kind),
                        what.count > 1 ? "first " : "", what.name, what.message);
  to_stderr("lathe: note: failed trials, which cost time and nothing else: {}\n", told);
}

// What else ran matters where the result is uncertain by it: the search compares times at the machine's pace.
void warn_of_noise(const std::vector<ReportRow>& rows) {
  const ReportRow* worst = nullptr;
  for (const ReportRow& row : rows) {
    const TuneProgress& progress = row.result.progress;
    if (progress.slowest_pace < kNoisyPace || progress.best_spread < kUncertain) continue;
    if (worst == nullptr || progress.best_spread > worst->result.progress.best_spread) worst = &row;
  }
  if (worst == nullptr) return;
  to_stderr(
      "lathe: warning: the machine was busy with something else: {} took up to {:.2f} times as long, and its "
      "time is uncertain by {:.0f} %; keep lathe to idle cores (`taskset -c 2,3 lathe tune ..`, or fewer "
      "--cores), and let `lathe bench` measure it again\n",
      worst->result.name, worst->result.progress.slowest_pace, 100 * worst->result.progress.best_spread);
}

void warn_of_untuned(const std::vector<ReportRow>& rows) {
  for (const ReportRow& row : rows) {
    if (row.op != "network" || row.result.progress.trials > 0 || !row.result.untunable) continue;
    to_stderr("lathe: warning: {} is not tuned: {}\n", row.result.name, reason(row.result));
  }
}

Status write_report(const std::vector<ReportRow>& rows, const std::string& path) {
  ordered_json list = ordered_json::array();
  for (const ReportRow& row : rows) list.push_back(json_of(row));
  return write_file(path, {list.dump(1, ' ', false, nlohmann::json::error_handler_t::replace), "\n"});
}

bool is_untried(const ReportRow& row) { return row.result.progress.trials == 0 && !row.result.untunable; }

void report_untried(const std::vector<ReportRow>& rows, bool is_written) {
  const auto untried = std::ranges::count_if(rows, is_untried);
  const bool is_network = !rows.empty() && rows.front().op == "network";
  // Of operators that are not written check_all_found says more.
  if (untried == 0 || (!is_network && !is_written)) return;
  to_stderr("lathe: note: nothing was tried for {} of {} {} in the time given{}\n", untried, rows.size(),
            is_network ? "tasks" : "operators",
            is_written ? ", which are written as `lathe compile` without records would write them" : "");
}

Status check_all_found(const std::vector<ReportRow>& rows, bool is_written) {
  std::string names;
  for (const ReportRow& row : rows) {
    const bool is_network = row.op == "network";
    const bool may_lack = is_network ? row.result.progress.trials == 0 : is_written && is_untried(row);
    if (row.result.progress.best_seconds > 0 || may_lack) continue;
    names += fmt::format("{}{} ({})", names.empty() ? "" : "; ", row.result.name, reason(row.result));
  }
  if (names.empty()) return {};
  return fail(ErrorKind::not_found, fmt::format("no valid program was found for {}", names));
}

}  // namespace lathe::cli
