// Records whose traces or tasks are damaged: what the commands do without them, and which file and record
// each of them names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/command_line.h"
#include "records/sqlite.h"

namespace lathe {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

class DamagedRecords : public CliTest {
 protected:
  void SetUp() override {
    write_matmul();
    const Outcome tuned = lathe("tune --workload w.json --cores 1 --trials 3 --records r.db");
    ASSERT_EQ(tuned.status, 0) << tuned.err;
  }

  void damage(const std::string& sql) const {
    auto connection = Connection::open((folder_.path() / "r.db").string(), true);
    ASSERT_TRUE(connection.has_value()) << connection.error().to_string();
    const Status done = connection->execute(sql.c_str());
    ASSERT_TRUE(done.has_value()) << done.error().to_string();
  }

  const std::string bench_ = "bench --workload w.json --cores 1 --rounds 1 --records r.db";
  const std::string compile_ = "compile --workload w.json --cores 1 --records r.db --out o";
};

TEST_F(DamagedRecords, OneThatDoesNotApplyGivesWayToTheNextBest) {
  damage("UPDATE records SET trace = 'split C zzz [1]', samples = '[1e-9]', seconds = 1e-9 WHERE id = 1");
  const Outcome bench = lathe(bench_ + " --json b.json");
  EXPECT_EQ(bench.status, 0) << bench.err;
  EXPECT_THAT(bench.err,
              StartsWith("lathe: mm: the best record is not used, illegal_schedule: r.db: record 1: "
                         "split C zzz [1]: block 'C' has no loop 'zzz'"));
  EXPECT_GT(nlohmann::json::parse(read_text(folder_.path() / "b.json"))[0]["seconds"], 1e-9);

  const Outcome compiled = lathe(compile_);
  EXPECT_EQ(compiled.status, 0) << compiled.err;
  EXPECT_THAT(compiled.err, StartsWith("lathe: mm: the program of record 1 of r.db is not used, "
                                       "illegal_schedule: split C zzz [1]: block 'C' has no loop 'zzz'"));
  EXPECT_THAT(sentence("replay r.db --record 1"), StartsWith("lathe: r.db: record 1: split C zzz [1]: "));
  EXPECT_THAT(sentence("replay r.db --record 1 --emit llvm"),
              StartsWith("lathe: r.db: record 1: split C zzz [1]: "));
}

TEST_F(DamagedRecords, ATaskThatCannotBeReadIsNotExplained) {
  const std::string id = nlohmann::json::parse(lathe("show r.db --json").out)[0]["task"];
  damage("UPDATE tasks SET dag = 'garbage'");
  const Outcome explained = lathe("explain r.db --task " + id);
  EXPECT_EQ(explained.status, 1);
  EXPECT_THAT(explained.err, HasSubstr("r.db has no records of task " + id));
}

TEST_F(DamagedRecords, WhereNoneIsLeftThatIsSaid) {
  damage("UPDATE records SET trace = 'split'");
  const std::string note =
      "lathe: note: r.db: 3 records are damaged: record 1, its trace cannot be read (column trace:1:";
  const Outcome bench = lathe(bench_);
  EXPECT_EQ(bench.status, 1);
  EXPECT_THAT(bench.err, StartsWith(note));
  EXPECT_THAT(bench.err, HasSubstr("lathe: r.db: there is no program on "));
  // Without any record there is trial 0.
  const Outcome compiled = lathe(compile_);
  EXPECT_EQ(compiled.status, 0) << compiled.err;
  EXPECT_THAT(compiled.err, StartsWith(note));
  EXPECT_THAT(sentence("replay r.db --record 2"),
              StartsWith("lathe: record 2 of the records file r.db is damaged: its trace cannot be read ("));
  EXPECT_EQ(lathe("show r.db --json").out, "[]\n");
}

// Whatever is wrong with one record, everything else works, and one note says so.
TEST_F(DamagedRecords, OneIsSetAsideByEveryCommandAndRepaired) {
  damage("UPDATE records SET seconds = -1 WHERE id = 2");
  const auto shown = nlohmann::json::parse(lathe("show r.db --json").out);
  EXPECT_EQ(shown[0]["trials"], 2);
  const std::string task = shown[0]["task"].get<std::string>();
  const std::string note =
      "lathe: note: r.db: 1 record is damaged: record 2, its column seconds holds '-1.0'; the rest is used, "
      "and "
      "`lathe records repair r.db` moves the damage aside\n";
  for (const std::string& command :
       {bench_, compile_, std::string("show r.db"), "show r.db --task " + task, "explain r.db --task " + task,
        std::string("records merge all.db r.db"),
        std::string("tune --workload w.json --cores 1 --trials 4 --records r.db")}) {
    const Outcome outcome = lathe(command);
    EXPECT_EQ(outcome.status, 0) << command << outcome.err;
    EXPECT_THAT(outcome.err, StartsWith(note)) << command;
    EXPECT_EQ(outcome.err.find("damaged", note.size()), std::string::npos) << command << outcome.err;
  }
  const Outcome repaired = lathe("records repair r.db");
  EXPECT_EQ(repaired.status, 0) << repaired.err;
  EXPECT_THAT(repaired.out,
              StartsWith("record 2: its column seconds holds '-1.0'\nr.db: 1 record moved to its "
                         "table damaged_records\nr.db: "));
  EXPECT_EQ(lathe("show r.db").err, "");
  EXPECT_THAT(lathe("records repair r.db").out, MatchesRegex("r.db: [0-9]+ records in order\n"));
}

TEST_F(DamagedRecords, AFileThatWasCutShortIsRepaired) {
  const auto path = folder_.path() / "r.db";
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 4096);
  EXPECT_THAT(sentence("show r.db"),
              HasSubstr("`lathe records repair r.db` saves what can still be read of it"));
  const Outcome repaired = lathe("records repair r.db");
  EXPECT_EQ(repaired.status, 0) << repaired.err;
  EXPECT_THAT(repaired.out, HasSubstr("its pages are damaged; "));
  EXPECT_EQ(lathe("show r.db").status, 0);
  EXPECT_THAT(sentence("records repair none.db"), HasSubstr("there is no records file none.db"));
}

TEST_F(DamagedRecords, TimesOfAnotherProcessorAreNoneOfOurs) {
  damage("UPDATE records SET machine = 'elsewhere', samples = '[1e-9]', seconds = 1e-9 WHERE id = 3");
  const auto shown = nlohmann::json::parse(lathe("show r.db --json").out);
  const std::string explain = "explain r.db --task " + shown[0]["task"].get<std::string>();
  const Outcome mixed = lathe(explain);
  EXPECT_EQ(mixed.status, 0) << mixed.err;
  EXPECT_THAT(mixed.out, HasSubstr("best of 2 trials: "));
  EXPECT_THAT(mixed.out, HasSubstr("left aside: 1 trial on another processor or by another version\n"));
  EXPECT_THAT(mixed.out, HasSubstr("together at least "));

  damage("UPDATE records SET machine = 'elsewhere'");
  const Outcome foreign = lathe(explain);
  EXPECT_EQ(foreign.status, 0) << foreign.err;
  EXPECT_THAT(foreign.out, HasSubstr("best of 3 trials: 0.0 us"));
  EXPECT_THAT(foreign.out, HasSubstr("measured on elsewhere by version "));
  EXPECT_THAT(foreign.out, Not(HasSubstr("together at least ")));
}

TEST_F(DamagedRecords, AMergeTellsWhatItChanged) {
  ASSERT_EQ(lathe("records merge all.db r.db").out, "r.db: 3 of 3 records were new to all.db\n");
  damage("UPDATE records SET samples = '[1e-9]', seconds = 1e-9 WHERE id = 1");
  EXPECT_EQ(lathe("records merge all.db r.db").out,
            "r.db: 0 of 3 records were new to all.db, 1 was changed there\n");
  damage("UPDATE records SET samples = '[1e-10]', seconds = 1e-10 WHERE id < 3");
  EXPECT_EQ(lathe("records merge all.db r.db").out,
            "r.db: 0 of 3 records were new to all.db, 2 were changed there\n");
}

// What came into a good file would be tuned and compiled with.
TEST_F(DamagedRecords, AMergeTakesNothingThatDoesNotFitTogether) {
  damage("UPDATE records SET seconds = seconds / 1e3 WHERE id = 1");
  const Outcome merged = lathe("records merge all.db r.db");
  EXPECT_EQ(merged.out, "r.db: 2 of 2 records were new to all.db\n");
  EXPECT_THAT(merged.err, MatchesRegex("lathe: note: r.db: 1 record is damaged: record 1, its column seconds "
                                       "holds '.*'; .*\n"));
  damage("UPDATE records SET samples = '[1e-3]', seconds = 1e-3; UPDATE tasks SET free_layouts = 0");
  const Outcome none = lathe("records merge none.db r.db");
  EXPECT_EQ(none.out, "r.db: 0 of 0 records were new to none.db\n");
  EXPECT_THAT(
      none.err,
      MatchesRegex("lathe: note: r.db: 3 records are damaged: record 1, its task .* is damaged: its text is "
                   "that of task .*, and 2 more; .*\n"));
}

TEST_F(DamagedRecords, ATaskIsMeasuredAnewWhereItsRecordsCannotBeUsed) {
  damage("UPDATE tasks SET dag = 'C[i:9] = '");
  EXPECT_EQ(lathe(bench_).status, 1);
  EXPECT_EQ(lathe(compile_).status, 0);
  const Outcome tuned = lathe("tune --workload w.json --cores 1 --trials 4 --records r.db");
  EXPECT_EQ(tuned.status, 0) << tuned.err;
  EXPECT_THAT(tuned.err, StartsWith("lathe: note: r.db: 1 task is damaged: "));
  // Its text is there again, and with it the records, of which one more makes four.
  const Outcome shown = lathe("show r.db --json");
  EXPECT_EQ(shown.err, "");
  EXPECT_EQ(nlohmann::json::parse(shown.out)[0]["trials"], 4);
}

// Also after a repair has moved them aside.
TEST_F(DamagedRecords, WhatARepairMovedAsideComesBackWithItsTask) {
  damage("UPDATE tasks SET dag = 'x'");
  const Outcome repaired = lathe("records repair r.db");
  EXPECT_THAT(repaired.out, HasSubstr("r.db: 3 records moved to its table damaged_records\n"));
  EXPECT_THAT(repaired.out, HasSubstr("r.db: 0 records in order\n"));
  const Outcome tuned = lathe("tune --workload w.json --cores 1 --trials 4 --records r.db");
  EXPECT_EQ(tuned.status, 0) << tuned.err;
  EXPECT_EQ(nlohmann::json::parse(lathe("show r.db --json").out)[0]["trials"], 4);
}

}  // namespace
}  // namespace lathe
