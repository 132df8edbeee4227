// Records whose traces or tasks are damaged: what compile and bench take in their place, and which file and
// record each command names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/command_line.h"
#include "records/sqlite.h"

namespace lathe {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

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

TEST_F(DamagedRecords, WhereNoneIsLeftEachIsNamed) {
  damage("UPDATE records SET trace = 'split'");
  const Outcome bench = lathe(bench_);
  EXPECT_EQ(bench.status, 1);
  for (const char* record : {"1", "2", "3"}) {
    EXPECT_THAT(bench.err, HasSubstr(std::string("parse: r.db: trace of record ") + record + ":1:"));
  }
  EXPECT_THAT(bench.err, HasSubstr("lathe: r.db: there is no program on "));
  // Without any record there is trial 0.
  const Outcome compiled = lathe(compile_);
  EXPECT_EQ(compiled.status, 0) << compiled.err;
  EXPECT_THAT(compiled.err, HasSubstr("lathe: mm: the program of record 3 of r.db is not used, parse: "));
  EXPECT_THAT(sentence("replay r.db --record 2"), StartsWith("lathe: r.db: trace of record 2:1:"));
  const auto shown = nlohmann::json::parse(lathe("show r.db --json").out);
  EXPECT_THAT(sentence("explain r.db --task " + shown[0]["task"].get<std::string>()),
              StartsWith("lathe: r.db: trace of record "));
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
  EXPECT_THAT(
      sentence("records merge all.db r.db"),
      MatchesRegex("lathe: the records file r.db is damaged: its column seconds holds '.*' in record 1"));
  damage("UPDATE records SET samples = '[1e-3]', seconds = 1e-3; UPDATE tasks SET free_layouts = 0");
  EXPECT_THAT(sentence("records merge all.db r.db"),
              MatchesRegex("lathe: r.db: the record of task .* is damaged: its text is that of task .*"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "all.db"));
}

TEST_F(DamagedRecords, ATaskIsNamedWithItsFile) {
  damage("UPDATE tasks SET dag = 'C[i:9] = '");
  const std::string task_at_fault = "(.|\n)*lathe: (mm: )?r.db: task [0-9a-f]+:1:[0-9]+: expected a value\n";
  for (const std::string& command :
       {bench_, compile_, std::string("replay r.db --record 1"),
        std::string("tune --workload w.json --cores 1 --trials 4 --records r.db")}) {
    const Outcome outcome = lathe(command);
    EXPECT_EQ(outcome.status, 1) << command;
    EXPECT_THAT(outcome.err, MatchesRegex(task_at_fault)) << command;
  }
}

}  // namespace
}  // namespace lathe
