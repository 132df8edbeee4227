// A report's JSON, entry by entry, and what is said of rows together.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/command_line.h"
#include "session/commands/case_report.h"
#include "target/detect.h"

namespace lathe {
namespace {

using nlohmann::json;

CaseReport reported(const std::string& name, double seconds) {
  CaseReport row;
  row.result.name = name;
  row.result.progress.best_seconds = seconds;
  row.result.progress.trials = 8;
  row.op = "matmul";
  row.flops = 4000000;
  row.bytes = 1200;
  row.target = "x86-avx2";
  row.strategy = "random";
  row.layout = "free";
  return row;
}

// The report as it was written and is read back.
json report_of(const std::vector<CaseReport>& rows) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "r.json").string();
  const Status written = write_report(rows, path);
  EXPECT_TRUE(written.has_value()) << written.error().to_string();
  const std::string text = read_text(path);
  EXPECT_TRUE(text.ends_with("]\n"));
  return json::parse(text);
}

TEST(WriteReport, ACaseThatHasAProgram) {
  CaseReport row = reported("mm", 2e-3);
  row.result.progress.best_spread = 0.25;
  row.result.progress.failed = 3;
  row.result.wall_seconds = 1.5;
  row.result.winner = Winner{12, 1e-7, 1e-5};
  row.result.reached = 0.98;
  row.result.failures = {{{ErrorKind::crash, "it ended"}, 2}, {{ErrorKind::timeout, "it hung"}, 1}};
  EXPECT_EQ(report_of({row}), json::parse(R"([{
    "name": "mm", "op": "matmul", "flops": 4000000, "bytes": 1200, "seconds": 0.002, "spread": 0.25,
    "gflops": 2.0, "trials": 8, "failed": 3, "wall_seconds": 1.5, "cores": 1, "target": "x86-avx2",
    "strategy": "random", "layout": "free", "slowest_pace": 1.0, "largest_difference": 1e-7,
    "tolerance": 1e-5, "reached": 0.98, "record": 12, "checked": "full",
    "failures": {"crash": 2, "timeout": 1}}])"));
}

TEST(WriteReport, ACaseWithoutAProgramHasNoFigures) {
  const json entry = report_of({reported("mm", 0)}).at(0);
  for (const char* key : {"seconds", "spread", "gflops", "largest_difference", "tolerance"}) {
    ASSERT_TRUE(entry.contains(key)) << key;
    EXPECT_TRUE(entry[key].is_null()) << key;
  }
  for (const char* key : {"record", "checked", "reached", "failures", "uses", "peers", "ratios", "speedup"})
    EXPECT_FALSE(entry.contains(key)) << key;
}

TEST(WriteReport, OfASampleNoDifferenceIsKnown) {
  CaseReport row = reported("mm", 1e-3);
  row.result.winner = Winner{3, 1e-7, 1e-5, "there was no time left"};
  const json entry = report_of({row}).at(0);
  EXPECT_EQ(entry["checked"], "sampled");
  EXPECT_EQ(entry["record"], 3);
  EXPECT_TRUE(entry["largest_difference"].is_null());
  EXPECT_TRUE(entry["tolerance"].is_null());
}

TEST(WriteReport, ANetworksTaskSaysHowOftenItIsUsed) {
  CaseReport row = reported("conv", 1e-3);
  row.op = "network";
  row.uses = 4;
  EXPECT_EQ(report_of({row}).at(0)["uses"], 4);
}

TEST(WriteReport, PeersThatHaveFiguresAreListed) {
  CaseReport row = reported("mm", 1e-3);
  row.peers.resize(3);
  row.peers[0].form = "fast";
  row.peers[0].seconds = 2e-3;
  row.peers[0].ratios = {2, 2.5, 3};
  row.peers[1].form = "slow";
  row.peers[1].seconds = 9e-3;
  row.peers[2].form = "none";
  const json entry = report_of({row}).at(0);
  EXPECT_EQ(entry["peers"], json::parse(R"({"fast": 0.002, "slow": 0.009})"));
  EXPECT_EQ(entry["ratios"], json::parse(R"({"fast": [2.0, 2.5, 3.0]})"));
  EXPECT_EQ(entry["speedup"], 2.5);
  // Peers were asked for, and none has the case.
  for (PeerFigure& peer : row.peers) peer = {.form = peer.form};
  const json none = report_of({row}).at(0);
  EXPECT_EQ(none["peers"], json::object());
  EXPECT_FALSE(none.contains("speedup"));
}

TEST(WriteReport, RowsAreInOrderAndNoneIsAList) {
  EXPECT_EQ(report_of({}), json::array());
  const json rows = report_of({reported("b", 1e-3), reported("a", 1e-3)});
  EXPECT_EQ(rows[0]["name"], "b");
  EXPECT_EQ(rows[1]["name"], "a");
}

TEST(WriteReport, NamesThatAreNoTextAreReplaced) {
  EXPECT_EQ(report_of({reported("a\xff", 1e-3)}).at(0)["name"], "a\xef\xbf\xbd");
}

TEST(WriteReport, AFileThatCannotBeWrittenIsNamed) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "no/r.json").string();
  const Status written = write_report({}, path);
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().kind, ErrorKind::io);
  EXPECT_NE(written.error().to_string().find(path), std::string::npos) << written.error().to_string();
}

TEST(AbovePeak, NamesWhatIsFasterThanTheUnits) {
  const Result<Target> target = detect_target();
  if (!target) GTEST_SKIP();
  const AbovePeak none = above_peak({reported("mm", 1), reported("unknown", 0)}, *target);
  EXPECT_GT(none.gflops, 0);
  EXPECT_TRUE(none.names.empty());
  const AbovePeak above = above_peak({reported("mm", 1), reported("fast", 1e-12)}, *target);
  EXPECT_EQ(above.names, std::vector<std::string>{"fast"});
  // Nothing is measured where nothing could be above it.
  EXPECT_EQ(above_peak({reported("unknown", 0)}, *target).gflops, 0);
  EXPECT_EQ(above_peak({}, *target).gflops, 0);
}

TEST(ReasonOf, SaysWhyACaseHasNoProgram) {
  CaseResult result;
  EXPECT_EQ(reason_of(result), "nothing was tried in the time given");
  result.progress.trials = 9;
  result.progress.failed = 7;
  result.failures = {{{ErrorKind::wrong_result, "C[0] is 1"}, 6}, {{ErrorKind::crash, "it ended"}, 1}};
  EXPECT_EQ(reason_of(result), "7 of 9 trials failed, most often wrong_result: C[0] is 1");
  result.untunable = MeasureFailure{ErrorKind::unsupported, "there is no space for it"};
  EXPECT_EQ(reason_of(result), "there is no space for it");
}

TEST(FailedTrials, AreCountedByKindOverAllRows) {
  CaseReport first = reported("a", 0);
  first.result.failures = {{{ErrorKind::crash, "of a"}, 2}};
  CaseReport second = reported("b", 0);
  second.result.failures = {{{ErrorKind::timeout, "late"}, 4}, {{ErrorKind::crash, "of b"}, 3}};
  const std::vector<FailedTrials> kinds = failed_trials({first, second});
  ASSERT_EQ(kinds.size(), 2U);
  const size_t crash = kinds[0].kind == ErrorKind::crash ? 0 : 1;
  EXPECT_EQ(kinds[crash].count, 5);
  EXPECT_EQ(kinds[crash].name, "a");
  EXPECT_EQ(kinds[crash].message, "of a");
  EXPECT_EQ(kinds[1 - crash].kind, ErrorKind::timeout);
  EXPECT_EQ(kinds[1 - crash].count, 4);
  EXPECT_EQ(kinds[1 - crash].name, "b");
}

// What a network's tasks were not tried for is compiled untuned in any case.
TEST(CheckAllFound, ATaskThatWasNotTriedLacksNothing) {
  CaseReport untried = reported("a", 0);
  untried.result.progress.trials = 0;
  EXPECT_TRUE(check_all_found({untried}, true));
  EXPECT_FALSE(check_all_found({untried}, false));
  untried.op = "network";
  EXPECT_TRUE(check_all_found({untried}, false));
  untried.op = "matmul";
  untried.result.untunable = MeasureFailure{ErrorKind::unsupported, "it has no space"};
  EXPECT_FALSE(is_untried(untried));
  const Status status = check_all_found({untried}, true);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().kind, ErrorKind::not_found);
  EXPECT_EQ(status.error().to_string(), "no valid program was found for a (it has no space)");
}

}  // namespace
}  // namespace lathe
