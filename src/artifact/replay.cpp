#include "artifact/replay.h"

#include <fmt/format.h>

#include <utility>

#include "records/within.h"
#include "schedule/apply.h"
#include "target/all.h"
#include "task/task_text.h"

namespace lathe {
namespace {

std::string place_of(const Record& record) { return fmt::format("record {}", record.id); }

Result<Target> target_of(const Record& record) {
  LATHE_TRY(Target target, parse_target(record.target));
  return with_cores(std::move(target), record.cores);
}

}  // namespace

Result<Task> replayed_task(const Record& record) {
  LATHE_TRY(const Target target, target_of(record));
  return task_of(record.task, target);
}

Result<Trace> replayed_trace(const Record& record) {
  return parse_trace(record.trace, "trace of " + place_of(record));
}

Result<Program> replayed_program(const Record& record, const Task& task) {
  LATHE_TRY(const Trace trace, replayed_trace(record));
  return within(place_of(record), apply_trace(task, trace));
}

Result<std::string> replay_text(const Record& record, const std::string& form) {
  LATHE_TRY(const Task task, replayed_task(record));
  LATHE_TRY(const Trace trace, replayed_trace(record));
  return within(place_of(record), emit_text(task, trace, form));
}

ReplayedProgram::ReplayedProgram(Trace trace, Program program, Module module, Problem problem)
    : trace_(std::move(trace)),
      program_(std::move(program)),
      module_(std::move(module)),
      problem_(std::move(problem)) {}

Result<ReplayedProgram> ReplayedProgram::create(const Record& record) {
  LATHE_TRY(const Task task, replayed_task(record));
  LATHE_TRY_STATUS(check_runs_here(task.target));
  LATHE_TRY(Trace trace, replayed_trace(record));
  LATHE_TRY(Program program, replayed_program(record, task));
  LATHE_TRY(Module module, within(place_of(record), compile_program(program, task.target)));
  ProblemOptions checks;
  checks.tolerance = record.tolerance;
  LATHE_TRY(Problem problem, Problem::create(task, checks));
  return ReplayedProgram(std::move(trace), std::move(program), std::move(module), std::move(problem));
}

Result<FullCheck> ReplayedProgram::check(CandidateRunner& runner) {
  return problem_.check_in_full(program_, trace_, module_, runner);
}

Result<Measurement> ReplayedProgram::measure(CandidateRunner& runner) {
  return runner.measure(module_, problem_.inputs_for(program_, trace_));
}

}  // namespace lathe
