#include "artifact/write/run_program.h"

#include <gtest/gtest.h>

namespace lathe {
namespace {

std::string failure_of(const std::string& script) {
  const Status done = run_program({"sh", "-c", script});
  return done ? "done" : done.error().to_string();
}

TEST(RunProgram, TellsTheLineThatSaysMost) {
  EXPECT_EQ(failure_of("exit 0"), "done");
  EXPECT_EQ(failure_of("exit 3"), "'sh' ended with status 3");
  const std::string summary = "echo 'collect2: error: ld returned 1 exit status' >&2; ";
  EXPECT_EQ(failure_of(summary + "echo 'ld: no x'; echo 'ld: no y'; exit 1"),
            "'sh' ended with status 1: ld: no x");
  EXPECT_EQ(failure_of(summary + "exit 1"),
            "'sh' ended with status 1: collect2: error: ld returned 1 exit status");
  EXPECT_EQ(failure_of("echo 'in function f:'; echo 'ld: m.so: No space left on device'; exit 1"),
            "'sh' ended with status 1: ld: m.so: No space left on device");
}

TEST(RunProgram, TellsWhatCannotBeStarted) {
  const Status done = run_program({"no-such-program"});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "'no-such-program' cannot be started: No such file or directory");
}

}  // namespace
}  // namespace lathe
