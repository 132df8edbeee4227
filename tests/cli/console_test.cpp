// Streams that take nothing: what a command makes is made all the same, and its exit status tells.
#include <gmock/gmock.h>

#include "cli/command_line.h"

namespace lathe {
namespace {

namespace fs = std::filesystem;
using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr const char* kFull = "lathe: standard output cannot be written: No space left on device\n";
// The shell's own status for a process that SIGPIPE ended.
constexpr int kEndedBySigpipe = 128 + 13;

class Console : public CliTest {
 protected:
  void SetUp() override { write_matmul(); }

  // The exit status of a command of bash in the test's folder, where $lathe is the program.
  int shell(const std::string& command) const {
    write("command.sh", "lathe='" + program_ + "'\n" + command + "\n");
    return run_in_shell("cd '" + folder_.path().string() + "' && bash command.sh < /dev/null");
  }
  bool exists(const char* name) const { return fs::exists(folder_.path() / name); }
  std::string text(const char* name) const { return read_text(folder_.path() / name); }
  void expect_made() const {
    for (const char* name : {"r.json", "o/mm/model.so"}) EXPECT_TRUE(exists(name)) << name;
  }

  const std::string tune_ =
      "\"$lathe\" tune --workload w.json --cores 1 --trials 2 --records r.db --json r.json --out o ";
};

TEST_F(Console, AFullStdoutLosesNothingElse) {
  EXPECT_EQ(shell(tune_ + "> /dev/full 2> err.txt"), 1);
  EXPECT_THAT(text("err.txt"), EndsWith(kFull));
  expect_made();
}

TEST_F(Console, AStdoutThatIsClosedIsNoFileOfTheCommands) {
  EXPECT_EQ(shell(tune_ + ">&- 2> err.txt"), 1);
  EXPECT_THAT(text("err.txt"), EndsWith("lathe: standard output cannot be written: Bad file descriptor\n"));
  expect_made();
}

TEST_F(Console, AReaderThatHasGoneEndsACommandThatIsDone) {
  EXPECT_EQ(shell("(env --default-signal=PIPE " + tune_ + "2> err.txt; echo $? > status.txt) | true"), 0);
  EXPECT_EQ(text("status.txt"), std::to_string(kEndedBySigpipe) + "\n");
  EXPECT_EQ(text("err.txt").find("standard output"), std::string::npos);
  expect_made();
}

TEST_F(Console, AStderrThatTakesNothingEndsNoRun) {
  for (const std::string stream : {"2> /dev/full", "2>&-", "2> >(true)"}) {
    EXPECT_EQ(shell(tune_ + "> out.txt " + stream), 0) << stream;
    EXPECT_THAT(text("out.txt"), HasSubstr("\nmm ")) << stream;
    expect_made();
    fs::remove_all(folder_.path() / "o");
    fs::remove(folder_.path() / "r.json");
  }
  EXPECT_EQ(shell("\"$lathe\" show none.db 2> /dev/full"), 1);
}

TEST_F(Console, EveryCommandAnswersForItsStdout) {
  ASSERT_EQ(shell(tune_ + "> out.txt 2> err.txt"), 0) << text("err.txt");
  write_array("a.npy", DType::f32, {9, 7});
  write_array("b.npy", DType::f32, {7, 8});
  for (const std::string command :
       {"--help", "--version", "tune --help", "show r.db", "show r.db --json", "replay r.db --record 1",
        "replay r.db --record 1 --emit loops", "records merge m.db r.db", "records prune r.db",
        "bench --workload w.json --cores 1 --records r.db", "compile --workload w.json --out c",
        "run o/mm --repeat 1 --input a.npy b.npy"}) {
    EXPECT_EQ(shell("\"$lathe\" " + command + " > /dev/full 2> err.txt"), 1) << command;
    EXPECT_THAT(text("err.txt"), EndsWith(kFull)) << command;
  }
}

}  // namespace
}  // namespace lathe
