// What the command line says before any command runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command_line.h"

namespace lathe {
namespace {

using ::testing::HasSubstr;

TEST_F(CliTest, HelpAndVersionGoToStdout) {
  const Outcome help = lathe("--help");
  EXPECT_EQ(help.status, 0);
  for (const char* command : {"tune", "compile", "run", "show", "replay", "target"}) {
    EXPECT_THAT(help.out, HasSubstr(command));
  }
  EXPECT_EQ(lathe("--version").out, "lathe 0.3.0\n");
  EXPECT_THAT(lathe("tune --help").out, HasSubstr("--cost-model"));
}

TEST_F(CliTest, TheParsersErrorsAreSentences) {
  EXPECT_EQ(sentence("optimise"), "lathe: there is no command 'optimise' (lathe --help tells more)");
  EXPECT_EQ(sentence("tune --fast"),
            "lathe: there is no option or argument '--fast' here (lathe --help tells more)");
  EXPECT_EQ(sentence("compile w.json"), "lathe: --out is required (lathe --help tells more)");
  EXPECT_EQ(sentence("compile --workload w.json --out ''"),
            "lathe: --out: the text is empty (lathe --help tells more)");
}

TEST_F(CliTest, ACommandThatNeedsAnotherShowsItsHelp) {
  for (const char* command : {"", "records", "table", "model"}) {
    const Outcome outcome = lathe(command);
    EXPECT_EQ(outcome.status, 1);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err, lathe(std::string(command) + " --help").out);
  }
}

}  // namespace
}  // namespace lathe
