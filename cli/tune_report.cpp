#include "cli/tune_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/write_file.h"
#include "cli/console.h"
#include "measure/statistics.h"

namespace lathe::cli {
namespace {

using nlohmann::ordered_json;

// Candidates of one search differ by less once it has come near the best.
constexpr double kNoisyPace = 1.2;

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
    entry["largest_difference"] = row.result.winner->largest_difference;
    entry["tolerance"] = row.result.winner->tolerance;
  }
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

// Why a case has no valid program.
std::string reason(const CaseResult& result) {
  if (!result.usual_failure) return "nothing was tried in the time given";
  if (result.progress.trials == 0) return result.usual_failure->message;
  return fmt::format("{} of {} trials failed, most often {}: {}", result.progress.failed,
                     result.progress.trials, to_string(result.usual_failure->kind),
                     result.usual_failure->message);
}

}  // namespace

void print_report(const std::vector<ReportRow>& rows) {
  to_stdout("{:<32} {:>5} {:>12} {:>9} {:>7} {:>7} {:>7} {:>9}{}\n", "name", "uses", "best", "GFLOP/s",
            "trials", "failed", "wall", "error", rows.empty() ? "" : peer_titles(rows.front()));
  for (const ReportRow& row : rows) {
    const TuneProgress& progress = row.result.progress;
    const bool found = progress.best_seconds > 0;
    to_stdout("{:<32} {:>5} {:>12} {:>9} {:>7} {:>7} {:>6.1f}s {:>9}{}\n", row.result.name, row.uses,
              microseconds(progress.best_seconds), found ? fmt::format("{:.1f}", gflops(row)) : "-",
              progress.trials, progress.failed, row.result.wall_seconds,
              row.result.winner ? fmt::format("{:.1e}", row.result.winner->largest_difference) : "-",
              peer_columns(row));
  }
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

void warn_of_noise(const std::vector<ReportRow>& rows) {
  double slowest = 1;
  for (const ReportRow& row : rows) slowest = std::max(slowest, row.result.progress.slowest_pace);
  if (slowest < kNoisyPace) return;
  to_stderr(
      "lathe: warning: the machine was noisy, the same program took up to {:.2f} times as long; on a "
      "quieter one the search is better led\n",
      slowest);
}

void warn_of_untuned(const std::vector<ReportRow>& rows) {
  for (const ReportRow& row : rows) {
    if (row.op != "network" || row.result.progress.trials > 0 || !row.result.usual_failure) continue;
    to_stderr("lathe: warning: {} is not tuned: {}\n", row.result.name, reason(row.result));
  }
}

Status write_report(const std::vector<ReportRow>& rows, const std::string& path) {
  ordered_json list = ordered_json::array();
  for (const ReportRow& row : rows) list.push_back(json_of(row));
  return write_file(path, {list.dump(1, ' ', false, nlohmann::json::error_handler_t::replace), "\n"});
}

Status check_all_found(const std::vector<ReportRow>& rows) {
  std::string names;
  for (const ReportRow& row : rows) {
    const bool untried = row.op == "network" && row.result.progress.trials == 0;
    if (row.result.progress.best_seconds > 0 || untried) continue;
    names += fmt::format("{}{} ({})", names.empty() ? "" : "; ", row.result.name, reason(row.result));
  }
  if (names.empty()) return {};
  return fail(ErrorKind::not_found, fmt::format("no valid program was found for {}", names));
}

}  // namespace lathe::cli
