#include "lower/passes.h"

#include <gtest/gtest.h>

#include <set>

#include "lower/programs.h"

namespace lathe::testing {
namespace {

Program unchanged(const Program& program) { return program; }
Result<Program> refusing(const Program&) { return fail(ErrorKind::illegal_schedule, "refused"); }

TEST(Passes, OnesWithoutOptionsRunAsTheyAreAndKeepTheirErrors) {
  const Program program = naive_program(task_of("C[i:4] = A[i] + 1.0"));
  const LowerOptions options;
  EXPECT_EQ(without_options<unchanged>(program, options)->arguments.size(), program.arguments.size());
  EXPECT_EQ(without_options<refusing>(program, options).error().message, "refused");
}

TEST(Passes, EachListNamesAPassOnce) {
  for (const std::span<const Pass> passes : {cpu_passes(), gpu_passes()}) {
    std::set<std::string_view> names;
    for (const Pass& pass : passes) EXPECT_TRUE(names.insert(pass.name).second) << pass.name;
    EXPECT_FALSE(names.empty());
  }
}

}  // namespace
}  // namespace lathe::testing
