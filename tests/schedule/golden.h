// Steps on a program: what comes out, as text that can be read again, and that the interpreter sees no
// difference.
#pragma once

#include <string>

#include "loop/parse.h"
#include "loop/print.h"
#include "loop/verify.h"
#include "schedule/programs.h"

namespace lathe::testing {

inline Trace steps_of(const std::string& text) {
  const Result<Trace> trace = parse_trace(text);
  EXPECT_TRUE(trace.has_value()) << trace.error().to_string();
  if (!trace) return {};
  // The text form keeps every field.
  const Result<Trace> again = parse_trace(to_string(*trace));
  EXPECT_TRUE(again.has_value() && *again == *trace) << to_string(*trace);
  return *trace;
}

// A program in text form, for what no Dag's naive program looks like.
inline Program program_of(const std::string& text) {
  Result<Program> program = parse_program(text);
  EXPECT_TRUE(program.has_value()) << program.error().to_string();
  return program ? *program : Program();
}

inline Result<Program> applied(Program program, const Trace& trace) {
  for (const Step& step : trace) {
    LATHE_TRY(program, apply_step(program, step));
  }
  return program;
}

// `after` is the program as the printer writes it, with a line break before it.
inline void expect_program(const Program& before, const Result<Program>& result, const std::string& after) {
  ASSERT_TRUE(result.has_value()) << result.error().to_string();
  const std::string text = to_string(*result);
  EXPECT_EQ("\n" + text, after);
  const Status status = verify(*result);
  EXPECT_TRUE(status.has_value()) << status.error().to_string();
  EXPECT_EQ(to_string(program_of(text)), text);
  expect_same_result(before, *result);
}

// Steps on the naive program of a task, or on a program.
inline void expect_steps(const Task& task, const std::string& steps, const std::string& after) {
  expect_program(naive_program(task), apply_trace(task, steps_of(steps)), after);
}

inline void expect_steps(const Program& before, const std::string& steps, const std::string& after) {
  expect_program(before, applied(before, steps_of(steps)), after);
}

// The last step is refused in these words, and the error names it.
inline void expect_refused(const Result<Program>& result, const Trace& trace, const std::string& sentence) {
  ASSERT_FALSE(result.has_value()) << to_string(*result);
  EXPECT_EQ(result.error().message, sentence);
  EXPECT_EQ(result.error().kind, ErrorKind::illegal_schedule);
  EXPECT_EQ(result.error().where, to_string(trace.back()));
}

inline void expect_illegal(const Task& task, const std::string& steps, const std::string& sentence) {
  SCOPED_TRACE(steps);
  const Trace trace = steps_of(steps);
  expect_refused(apply_trace(task, trace), trace, sentence);
}

inline void expect_illegal(const Program& before, const std::string& steps, const std::string& sentence) {
  SCOPED_TRACE(steps);
  const Trace trace = steps_of(steps);
  expect_refused(applied(before, trace), trace, sentence);
}

}  // namespace lathe::testing
