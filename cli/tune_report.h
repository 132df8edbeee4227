// What a tuning run prints and writes as JSON: a row for each case or task.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "target/target.h"
#include "tune/tune.h"

namespace lathe::cli {

// What one form of a peer takes for a case.
struct PeerFigure {
  std::string form;
  double seconds = 0;                          // the best so far; 0: none
  std::vector<double> ratios = {};             // its time over ours in each turn
  std::optional<MeasureFailure> failure = {};  // why there is none
};

struct ReportRow {
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

// A table on stdout, with a note where a program is faster than the machine's multiply-add units could run
// the operations that are counted; for that the peak is measured. With peers each form has a column, and the
// last line is the mean of the speed-ups: what the fastest peer takes, in parts of what Lathe's program does,
// the median of their turns. Times of one turn are neighbours: a machine's clock, and who else uses it,
// change from second to second.
void print_report(const std::vector<ReportRow>& rows, const Target& target);
// Says on stderr that a signal of this name ended the run, and where its records are.
void report_stop(const char* signal, const std::string& records);
// Says on stderr whose search ended because little was left to gain.
void report_enough(const std::vector<ReportRow>& rows);
// Says on stderr whose winners were compared in a sample of their elements only, and why.
void report_sampled(const std::vector<ReportRow>& rows);
// Says on stderr in which ways trials failed, where some did.
void report_failures(const std::vector<ReportRow>& rows);
// Whether nothing is known of the case or task because there was no time to try anything.
bool is_untried(const ReportRow& row);
// Says on stderr how many there was no time for, and what is written of these; of operators that are not
// written check_all_found names each.
void report_untried(const std::vector<ReportRow>& rows, bool is_written);
// Warns on stderr where the machine was too noisy for a time to be certain, and says what to do.
void warn_of_noise(const std::vector<ReportRow>& rows);
// Warns on stderr of the tasks of a network that cannot be tuned, each with why.
void warn_of_untuned(const std::vector<ReportRow>& rows);
Status write_report(const std::vector<ReportRow>& rows, const std::string& path);
// An Error that names the cases without any valid program and says why each has none. Those that were never
// tried count as none of them where they are written, compiled untuned, and tasks of a network never do.
Status check_all_found(const std::vector<ReportRow>& rows, bool is_written);

}  // namespace lathe::cli
