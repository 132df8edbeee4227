// Experiments of lathe/search.h.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/write_file.h"
#include "lathe/search.h"
#include "session/commands/table_case.h"
#include "session/session_fixture.h"

namespace lathe {
namespace {

using ::testing::HasSubstr;

// Tries what the space draws.
class Drawn : public SearchMethod {
 public:
  Drawn(PointSpace& space, int& asked) : space_(space), asked_(asked) {}
  std::vector<SearchPoint> propose(int count, const PointScorer&) override {
    ++asked_;
    return space_.draw(count);
  }
  void observe(std::span<const PointOutcome>) override {}

 private:
  PointSpace& space_;
  int& asked_;
};

class ExperimentFace : public SessionTest {
 protected:
  void SetUp() override {
    SessionTest::SetUp();
    ASSERT_TRUE(write_file(path("mm.table"), {table_bytes(table_case(source(), 200))}));
    write("e.json", R"({"name": "e", "title": "Mine", "tables": ["mm.table"], "trials": 16, "batch": 8,
      "runs": [{"label": "mine", "strategy": "drawn", "cost_model": "none", "seeds": 2},
               {"label": "GA", "strategy": "genetic:population=8", "seeds": 1}],
      "bars": [{"claim": "magic", "quantity": "final_quality", "run": "mine", "at_least": 1.01}]})");
    choice_.file = path("e.json");
    choice_.out = path("out");
    choice_.search_methods["drawn"] = [this](PointSpace& space, uint64_t) {
      return std::make_unique<Drawn>(space, asked_);
    };
  }
  size_t kept() const {
    std::ifstream file(path("out/e.searches"));
    size_t lines = 0;
    for (std::string line; std::getline(file, line);) ++lines;
    return lines;
  }

  ExperimentChoice choice_;
  int asked_ = 0;
};

TEST_F(ExperimentFace, OnesOwnMethodIsComparedUnderItsName) {
  const Result<ExperimentResult> result = run_experiment(choice_);
  ASSERT_TRUE(result) << refusal_of(result);
  ASSERT_EQ(result->runs.size(), 2U);
  EXPECT_EQ(result->runs[0].run, "mine");
  EXPECT_EQ(result->runs[0].seeds, 2);
  EXPECT_GT(result->runs[0].final_quality, 0);
  EXPECT_LE(result->runs[0].final_quality, 1);
  ASSERT_EQ(result->bars.size(), 1U);
  EXPECT_FALSE(result->bars[0].is_met);
  EXPECT_EQ(asked_, 4) << "two seeds of two batches";
}

// The code behind a name may be another one the next time.
TEST_F(ExperimentFace, SearchesOfOnesOwnAreMadeAnew) {
  ASSERT_TRUE(run_experiment(choice_));
  EXPECT_EQ(kept(), 1U) << "the genetic one";
  ASSERT_TRUE(run_experiment(choice_));
  EXPECT_EQ(asked_, 8);
  EXPECT_EQ(kept(), 1U);
}

TEST_F(ExperimentFace, ANameThatNothingHasIsNamed) {
  choice_.search_methods.clear();
  EXPECT_THAT(refusal_of(run_experiment(choice_)), HasSubstr("run 'mine'"));
}

TEST_F(ExperimentFace, WhatIsStoppedIsNotWhole) {
  std::vector<std::string> told;
  choice_.progress = [&](const std::string& sentence) { told.push_back(sentence); };
  choice_.stop = [&] { return told.size() == 2; };
  const Result<ExperimentResult> result = run_experiment(choice_);
  ASSERT_TRUE(result) << refusal_of(result);
  EXPECT_FALSE(result->is_whole);
  EXPECT_TRUE(result->bars.empty());
  EXPECT_EQ(told[1], "1 of 3 searches are done; mm lathe: mine, seed 1");
}

}  // namespace
}  // namespace lathe
