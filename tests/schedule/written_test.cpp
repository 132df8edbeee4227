// A candidate's forms go together.
#include "schedule/written.h"

#include <gtest/gtest.h>

#include "loop/print.h"
#include "schedule/apply.h"
#include "schedule/programs.h"

namespace lathe::testing {
namespace {

TEST(WriteProgram, GivesTraceHashAndProgram) {
  const Task task = task_of("C[i:40, j:50] = sum(r:30) A[i, r] * B[r, j]");
  const Trace trace = parse_trace("split C i [8]").value();
  const auto written = write_program(task, trace);
  ASSERT_TRUE(written) << written.error().to_string();
  EXPECT_EQ(to_string((*written)->trace), to_string(trace));
  EXPECT_EQ((*written)->hash, hash_of(trace));
  EXPECT_EQ(to_string((*written)->program), to_string(apply_trace(task, trace).value()));
}

TEST(WriteProgram, RefusesAnIllegalStep) {
  const Task task = task_of("C[i:40] = A[i]");
  const auto written = write_program(task, parse_trace("split C q [8]").value());
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, apply_trace(task, parse_trace("split C q [8]").value()).error().kind);
}

}  // namespace
}  // namespace lathe::testing
