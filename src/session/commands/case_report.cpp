#include "session/commands/case_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/write_file.h"
#include "measure/peak.h"
#include "measure/statistics.h"

namespace lathe {
namespace {

using nlohmann::ordered_json;

// Candidates of one search differ by less once it has come near the best.
constexpr double kNoisyPace = 1.2;
// Medians of programs that race differ by less.
constexpr double kUncertain = 0.05;

// Measured peaks repeat within some per cent.
constexpr double kAbovePeak = 1.03;

ordered_json json_of(const CaseReport& row) {
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
  if (const std::optional<double> ratio = speed_up_of(row)) entry["speedup"] = *ratio;
  if (progress.best_seconds == 0) return entry;
  entry["seconds"] = progress.best_seconds;
  entry["spread"] = progress.best_spread;
  entry["gflops"] = gflops_of(row);
  return entry;
}

}  // namespace

bool has_program(const CaseReport& row) { return row.result.progress.best_seconds > 0; }

bool is_untried(const CaseReport& row) { return row.result.progress.trials == 0 && !row.result.untunable; }

double gflops_of(const CaseReport& row) {
  return static_cast<double>(row.flops) / row.result.progress.best_seconds * 1e-9;
}

std::optional<double> speed_up_of(const CaseReport& row) {
  std::optional<double> least;
  for (const PeerFigure& peer : row.peers) {
    if (peer.ratios.empty()) continue;
    const double ratio = median(peer.ratios);
    if (!least || ratio < *least) least = ratio;
  }
  return least;
}

std::optional<MeanSpeedUp> mean_speed_up(const std::vector<CaseReport>& rows) {
  double logarithms = 0;
  int cases = 0;
  for (const CaseReport& row : rows) {
    const std::optional<double> ratio = speed_up_of(row);
    if (!ratio) continue;
    logarithms += std::log(*ratio);
    ++cases;
  }
  if (cases == 0) return std::nullopt;
  return MeanSpeedUp{std::exp(logarithms / cases), cases};
}

AbovePeak above_peak(const std::vector<CaseReport>& rows, const Target& target) {
  AbovePeak above;
  if (!has_peaks(target) || std::ranges::none_of(rows, has_program)) return above;
  above.gflops = measure_fma_gflops(with_cores(target, rows.front().cores));
  for (const CaseReport& row : rows) {
    if (has_program(row) && gflops_of(row) > kAbovePeak * above.gflops)
      above.names.push_back(row.result.name);
  }
  return above;
}

// What else ran matters where the result is uncertain by it: the search compares times at the machine's pace.
const CaseReport* noisiest(const std::vector<CaseReport>& rows) {
  const CaseReport* worst = nullptr;
  for (const CaseReport& row : rows) {
    const TuneProgress& progress = row.result.progress;
    if (progress.slowest_pace < kNoisyPace || progress.best_spread < kUncertain) continue;
    if (worst == nullptr || progress.best_spread > worst->result.progress.best_spread) worst = &row;
  }
  return worst;
}

std::vector<FailedTrials> failed_trials(const std::vector<CaseReport>& rows) {
  std::map<ErrorKind, FailedTrials> kinds;
  for (const CaseReport& row : rows) {
    for (const FailureCount& failure : row.result.failures) {
      FailedTrials& kind = kinds[failure.first.kind];
      if (kind.count == 0) kind = {failure.first.kind, 0, row.result.name, failure.first.message};
      kind.count += failure.count;
    }
  }
  std::vector<FailedTrials> all;
  for (auto& [kind, trials] : kinds) all.push_back(std::move(trials));
  return all;
}

std::string reason_of(const CaseResult& result) {
  if (result.untunable) return result.untunable->message;
  if (result.failures.empty()) return "nothing was tried in the time given";
  const MeasureFailure& usual = result.failures.front().first;
  return fmt::format("{} of {} trials failed, most often {}: {}", result.progress.failed,
                     result.progress.trials, to_string(usual.kind), usual.message);
}

Status write_report(const std::vector<CaseReport>& rows, const std::string& path) {
  ordered_json list = ordered_json::array();
  for (const CaseReport& row : rows) list.push_back(json_of(row));
  return write_file(path, {list.dump(1, ' ', false, nlohmann::json::error_handler_t::replace), "\n"});
}

Status check_all_found(const std::vector<CaseReport>& rows, bool is_written) {
  std::string names;
  for (const CaseReport& row : rows) {
    const bool is_network = row.op == "network";
    const bool may_lack = is_network ? row.result.progress.trials == 0 : is_written && is_untried(row);
    if (row.result.progress.best_seconds > 0 || may_lack) continue;
    names += fmt::format("{}{} ({})", names.empty() ? "" : "; ", row.result.name, reason_of(row.result));
  }
  if (names.empty()) return {};
  return fail(ErrorKind::not_found, fmt::format("no valid program was found for {}", names));
}

}  // namespace lathe
