// --tolerance, and the tolerance that a record keeps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/command_line.h"

namespace lathe {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

TEST_F(CliTest, AToleranceThatNothingMeetsLeavesNoProgram) {
  write_matmul();
  const Outcome tuned =
      lathe("tune --workload w.json --cores 1 --trials 2 --tolerance 1e-12 --records r.db --json r.json");
  EXPECT_EQ(tuned.status, 1);
  EXPECT_THAT(tuned.err,
              MatchesRegex("(.|\n)*lathe: no valid program was found for mm \\(2 of 2 trials failed, "
                           "most often wrong_result: [^\n]+\\)\n"));
  const auto report = nlohmann::json::parse(read_text(folder_.path() / "r.json"));
  EXPECT_EQ(report[0]["failed"], 2);
  EXPECT_TRUE(report[0]["seconds"].is_null());
  EXPECT_THAT(lathe("replay r.db --record 1").out, HasSubstr("recorded: wrong_result: "));

  const Outcome measured = lathe("bench --workload w.json --cores 1 --records r.db --json b.json");
  EXPECT_EQ(measured.status, 1);
  EXPECT_THAT(measured.err, HasSubstr("lathe: r.db: there is no program on "));
  const auto bench = nlohmann::json::parse(read_text(folder_.path() / "b.json"));
  EXPECT_EQ(bench[0]["trials"], 2);
  EXPECT_EQ(bench[0]["failed"], 2);
  EXPECT_EQ(bench[0]["layout"], "free");
}

// The difference of two long sums loses three digits more than sums do: a right program is right unasked, and
// wrong by a tolerance that no program meets.
TEST_F(CliTest, BenchAndReplayCompareByTheToleranceOfTheTuning) {
  write_workload(
      R"({"name": "d", "op": "expression", "text": "S[i:8] = sum(r:4096) A[i,r]*A[i,r]; C[i:8] = floor(A[i,0]) + S[i]*1000.0 - S[i]*999.9"})");
  ASSERT_EQ(lathe("tune --workload w.json --cores 1 --trials 2 --tolerance 0.1 --records r.db").status, 0);
  const Outcome measured = lathe("bench --workload w.json --cores 1 --records r.db --json b.json");
  EXPECT_EQ(measured.status, 0) << measured.err;
  EXPECT_EQ(nlohmann::json::parse(read_text(folder_.path() / "b.json"))[0]["tolerance"], 0.1);
  EXPECT_EQ(lathe("replay r.db --record 1").status, 0);

  // What one tolerance accepted another one does not.
  const std::string compile = "compile --workload w.json --cores 1 --records r.db --out o";
  EXPECT_EQ(lathe(compile).status, 0);
  const Outcome strict = lathe(compile + " --tolerance 1e-12");
  EXPECT_EQ(strict.status, 1);
  EXPECT_THAT(strict.err, HasSubstr("d: the program of record "));
  EXPECT_THAT(strict.err, HasSubstr(" of r.db is not used, wrong_result: C["));
  const Outcome asked_for = lathe(compile + " --tolerance 0.1");
  EXPECT_EQ(asked_for.status, 0) << asked_for.err;
  EXPECT_EQ(asked_for.err.find("not used"), std::string::npos);
}

}  // namespace
}  // namespace lathe
