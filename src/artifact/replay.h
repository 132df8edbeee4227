// What a record says, made again from the records file alone: its task, its trace, its code.
#pragma once

#include <string>

#include "base/result.h"
#include "check/problem.h"
#include "compile/compile.h"
#include "measure/candidate_runner.h"
#include "records/record.h"

namespace lathe {

// The record's program in that form (code_forms()). An Error where the record is
// damaged or does not compile any more.
Result<std::string> replay_text(const Record& record, const std::string& form);
// A record's program and inputs, ready to run on this machine.
class ReplayedProgram {
 public:
  // An Error where the record is damaged, does not compile any more, or is of a target that this machine does
  // not run.
  static Result<ReplayedProgram> create(const Record& record);
  // Whether all that it computes is right, by the tolerance of its tuning. `runner` has the record's number
  // of cores, here and below.
  Result<FullCheck> check(CandidateRunner& runner);
  // What it takes now.
  Result<Measurement> measure(CandidateRunner& runner);

 private:
  ReplayedProgram(Trace trace, Program program, Module module, Problem problem);
  Trace trace_;
  Program program_;
  Module module_;
  Problem problem_;
};
// Its task for the target it was measured on, its trace, and what that makes of the task.
Result<Task> replayed_task(const Record& record);
Result<Trace> replayed_trace(const Record& record);
Result<Program> replayed_program(const Record& record, const Task& task);

}  // namespace lathe
