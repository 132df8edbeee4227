#include "session/commands/run_experiment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/write_file.h"
#include "session/commands/table_case.h"
#include "session/session_fixture.h"

namespace lathe {
namespace {

using ::testing::HasSubstr;

class RunExperimentTest : public SessionTest {
 protected:
  void SetUp() override {
    SessionTest::SetUp();
    ASSERT_TRUE(write_file(path("mm.table"), {table_bytes(table_case(source(), 300))}));
    write_experiment("annealing:batch=8,chains=16,steps=20");
    request_.file = path("e.json");
    request_.out = path("out");
  }
  void write_experiment(const std::string& strategy) const {
    write("e.json",
          R"({"name": "e", "title": "Two searches", "tables": ["mm.table"], "trials": 24, "batch": 8,
      "runs": [{"label": "SA", "strategy": ")" +
              strategy + R"(", "cost_model": "gbt:rounds=5", "seeds": 2},
               {"label": "GA", "strategy": "genetic:population=8", "seeds": 3}],
      "bars": [{"claim": "found", "quantity": "final_quality", "run": "SA", "at_least": 0.01},
               {"claim": "magic", "quantity": "final_quality", "run": "GA", "at_least": 1.01}]})");
  }
  std::vector<std::string> searches_made() const {
    std::vector<std::string> made;
    std::ifstream file(path("out/e.searches"));
    for (std::string line; std::getline(file, line);) made.push_back(line);
    return made;
  }

  ExperimentRequest request_;
};

TEST_F(RunExperimentTest, EverySearchIsMadeOnceAndJudged) {
  const Result<RunExperiment> run = run_experiment(request_, {});
  ASSERT_TRUE(run) << refusal_of(run);
  EXPECT_TRUE(run->is_whole);
  ASSERT_EQ(run->tables.size(), 1U);
  ASSERT_EQ(run->tables[0].runs.size(), 2U);
  EXPECT_EQ(run->tables[0].runs[0].best.size(), 2U);
  EXPECT_EQ(run->tables[0].runs[1].best.size(), 3U);
  EXPECT_EQ(run->tables[0].runs[1].best[0].size(), 24U);
  ASSERT_EQ(run->bars.size(), 2U);
  EXPECT_TRUE(run->bars[0].is_met);
  EXPECT_FALSE(run->bars[1].is_met) << "nothing is faster than the optimum";
  EXPECT_EQ(searches_made().size(), 5U);
  EXPECT_TRUE(std::filesystem::exists(path("out/e.svg")));
  EXPECT_TRUE(std::filesystem::exists(path("out/e.json")));
}

TEST_F(RunExperimentTest, ARunThatIsEndedAnywhereGoesOnToTheSameCurves) {
  const std::vector<TableCurves> whole = run_experiment({.file = request_.file}, {})->tables;
  for (size_t done = 0; done < 6; ++done) {
    size_t asked = 0;
    ExperimentListener listener;
    listener.stop = [&] { return asked++ == done; };
    const Result<RunExperiment> part = run_experiment(request_, listener);
    ASSERT_TRUE(part) << refusal_of(part);
    EXPECT_EQ(part->is_whole, done == 5);
  }
  const std::vector<TableCurves> resumed = run_experiment(request_, {})->tables;
  EXPECT_EQ(searches_made().size(), 5U);
  for (size_t i = 0; i < 2; ++i) EXPECT_EQ(resumed[0].runs[i].best, whole[0].runs[i].best);
}

TEST_F(RunExperimentTest, WhatThereIsNotIsNamedBeforeAnySearch) {
  write_experiment("magic");
  EXPECT_THAT(refusal_of(run_experiment(request_, {})), HasSubstr("e.json: run 'SA'"));
  EXPECT_FALSE(std::filesystem::exists(path("out")));
  write_experiment("random");
  std::filesystem::remove(path("mm.table"));
  EXPECT_THAT(refusal_of(run_experiment(request_, {})), HasSubstr("mm.table"));
}

// What one search has measured the next one finds again.
TEST_F(RunExperimentTest, ACaseIsSearchedLiveAndAProgramHasOneTime) {
  write("e.json", R"({"name": "e", "title": "Live", "trials": 6, "batch": 3,
    "cases": [{"workload": "w.json", "operator": "mm"}],
    "runs": [{"label": "random", "strategy": "random", "seeds": 1},
             {"label": "again", "strategy": "random", "seeds": 1}],
    "bars": [{"claim": "the same", "quantity": "final_quality", "run": "again", "than": "random",
              "at_least": 1, "at_most": 1}]})");
  request_.worker = worker_;
  const Result<RunExperiment> run = run_experiment(request_, {});
  ASSERT_TRUE(run) << refusal_of(run);
  ASSERT_EQ(run->tables.size(), 1U);
  EXPECT_EQ(run->tables[0].table, "mm lathe");
  const RunCurves& random = run->tables[0].of("random");
  EXPECT_EQ(random.best[0], run->tables[0].of("again").best[0]);
  EXPECT_EQ(random.charged[0].size(), 6U);
  EXPECT_GT(random.charged[0].front(), 0);
  EXPECT_TRUE(std::ranges::is_sorted(random.charged[0]));
  EXPECT_TRUE(run->bars[0].is_met);
  request_.out = "";
  EXPECT_THAT(refusal_of(run_experiment(request_, {})), HasSubstr("--out names the folder"));
}

}  // namespace
}  // namespace lathe
