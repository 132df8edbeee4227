// What a tuning run prints: a row for each case or task, and notes.
#pragma once

#include <string>
#include <vector>

#include "session/commands/case_report.h"

namespace lathe::cli {

// A table on stdout, with a note where a program is faster than the machine's multiply-add units could run
// the operations that are counted; for that the peak is measured. With peers each form has a column, and the
// last line is the mean of the speed-ups: what the fastest peer takes, in parts of what Lathe's program does,
// the median of their turns. Times of one turn are neighbours: a machine's clock, and who else uses it,
// change from second to second.
void print_report(const std::vector<CaseReport>& rows, const Target& target);
// Says on stderr that a signal of this name ended the run, and where its records are.
void report_stop(const char* signal, const std::string& records);
// Says on stderr whose search ended because little was left to gain.
void report_enough(const std::vector<CaseReport>& rows);
// Says on stderr whose winners were compared in a sample of their elements only, and why.
void report_sampled(const std::vector<CaseReport>& rows);
// Says on stderr in which ways trials failed, where some did.
void report_failures(const std::vector<CaseReport>& rows);
// Says on stderr how many there was no time for, and what is written of these; of operators that are not
// written check_all_found names each.
void report_untried(const std::vector<CaseReport>& rows, bool is_written);
// Warns on stderr where the machine was too noisy for a time to be certain, and says what to do.
void warn_of_noise(const std::vector<CaseReport>& rows);
// Warns on stderr of the tasks of a network that cannot be tuned, each with why.
void warn_of_untuned(const std::vector<CaseReport>& rows);

}  // namespace lathe::cli
