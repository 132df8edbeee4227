// What is known of an operator or of a network's task at the end of a command: a row of its table, an entry
// of its JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "target/target.h"
#include "tune/tune.h"

namespace lathe {

// What one form of a peer takes for a case.
struct PeerFigure {
  std::string form;
  double seconds = 0;                          // the best so far; 0: none
  std::vector<double> ratios = {};             // its time over ours in each turn
  std::optional<MeasureFailure> failure = {};  // why there is none
};

struct CaseReport {
  CaseResult result;
  std::string op;
  int64_t flops = 0;  // of the direct form
  int64_t bytes = 0;  // of all arguments
  int cores = 1;
  std::string target;
  std::string strategy;
  std::string layout;
  int64_t uses = 1;                    // how often a network runs it
  std::vector<PeerFigure> peers = {};  // the same forms in every row; none where peers were not asked for
};

bool has_program(const CaseReport& row);
// Whether nothing is known of the case or task because there was no time to try anything.
bool is_untried(const CaseReport& row);
// 10^9 operations of the formula a second; of a row that has a program.
double gflops_of(const CaseReport& row);
// What the fastest peer takes, in parts of what Lathe's program does: the median of their turns. Times of one
// turn are neighbours: a machine's clock, and who else uses it, change from second to second. None where
// either side has no figure.
std::optional<double> speed_up_of(const CaseReport& row);
// The geometric mean of these; none where no row has any.
struct MeanSpeedUp {
  double ratio = 1;
  int cases = 0;
};
std::optional<MeanSpeedUp> mean_speed_up(const std::vector<CaseReport>& rows);

// Programs that are faster than the machine's multiply-add units could run the operations that are counted.
struct AbovePeak {
  double gflops = 0;  // the peak, measured here
  std::vector<std::string> names;
};
AbovePeak above_peak(const std::vector<CaseReport>& rows, const Target& target);
// The row whose time is least certain, where the machine was too noisy for a time to be certain; null: none.
const CaseReport* noisiest(const std::vector<CaseReport>& rows);

// In which ways trials failed, all rows together.
struct FailedTrials {
  ErrorKind kind = ErrorKind::build;
  int64_t count = 0;
  std::string name;  // of the case that failed so first
  std::string message;
};
std::vector<FailedTrials> failed_trials(const std::vector<CaseReport>& rows);
// Why a case has no valid program.
std::string reason_of(const CaseResult& result);

// The rows as a JSON list (docs/command_line.md).
Status write_report(const std::vector<CaseReport>& rows, const std::string& path);
// An Error that names the cases without any valid program and says why each has none. Those that were never
// tried count as none of them where they are written, compiled untuned, and tasks of a network never do.
Status check_all_found(const std::vector<CaseReport>& rows, bool is_written);

}  // namespace lathe
