#include "experiment/experiment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lathe {
namespace {

using ::testing::HasSubstr;

constexpr const char* kWhole = R"({
  "name": "a1", "title": "Models and no models", "source": "[A] fig. 4", "tables": ["C2.table", "C6.table"],
  "trials": 800, "batch": 32,
  "runs": [{"label": "GBT", "strategy": "annealing", "cost_model": "gbt:features=relation", "seeds": 10},
           {"label": "GA", "strategy": "genetic", "seeds": 100}],
  "bars": [{"claim": "a third", "quantity": "trials_to_quality", "run": "GBT", "than": "random",
            "at_most": 0.333},
           {"claim": "half", "quantity": "score", "run": "GA", "at_least": 0.5, "share": 0.9},
           {"claim": "early", "quantity": "final_quality", "run": "GBT", "after": 16, "across": "least",
            "at_least": 0.1}]})";

std::string fault(const std::string& text) {
  const Result<Experiment> experiment = parse_experiment(text, "a1.json");
  return experiment ? "" : experiment.error().to_string();
}

std::string replaced(const std::string& from, const std::string& to) {
  std::string text = kWhole;
  text.replace(text.find(from), from.size(), to);
  return text;
}

TEST(Experiment, AFileSaysTablesRunsAndBars) {
  const Experiment experiment = parse_experiment(kWhole, "a1.json").value();
  EXPECT_EQ(experiment.name, "a1");
  EXPECT_EQ(experiment.tables, (std::vector<std::string>{"C2.table", "C6.table"}));
  EXPECT_EQ(experiment.trials, 800);
  EXPECT_EQ(experiment.batch, 32);
  ASSERT_EQ(experiment.runs.size(), 2U);
  EXPECT_EQ(experiment.runs[0].cost_model, "gbt:features=relation");
  EXPECT_EQ(experiment.runs[1].cost_model, "none");
  EXPECT_EQ(experiment.runs[1].seeds, 100);
  ASSERT_EQ(experiment.bars.size(), 3U);
  EXPECT_EQ(experiment.bars[0].quantity, Quantity::trials_to_quality);
  EXPECT_EQ(experiment.bars[0].at_most, 0.333);
  EXPECT_EQ(experiment.bars[1].share, 0.9);
  EXPECT_EQ(experiment.bars[1].after, 0);
  EXPECT_EQ(experiment.bars[1].across, Across::median);
  EXPECT_EQ(experiment.bars[2].after, 16);
  EXPECT_EQ(experiment.bars[2].across, Across::least);
}

TEST(Experiment, ARunMayHaveLearnedFromOtherTables) {
  const std::string text = replaced(
      "\"seeds\": 100}",
      R"("seeds": 2, "learned": {"tables": ["C1.table"], "points": 30000, "cost_model": "gbt", "half_life": 0}})");
  const Experiment experiment = parse_experiment(text, "a5.json").value();
  EXPECT_FALSE(experiment.runs[0].learned);
  ASSERT_TRUE(experiment.runs[1].learned);
  EXPECT_EQ(experiment.runs[1].learned->tables, std::vector<std::string>{"C1.table"});
  EXPECT_EQ(experiment.runs[1].learned->points, 30000);
  EXPECT_EQ(experiment.runs[1].learned->cost_model, "gbt");
  EXPECT_EQ(experiment.runs[1].learned->half_life, 0);
  EXPECT_THAT(fault(replaced("\"seeds\": 100}", R"("learned": {"points": 3}})")),
              HasSubstr("'learned' has no 'tables'"));
}

TEST(Experiment, CasesAreComparedWithARunCalledRandom) {
  const std::string cases = replaced(R"("tables": ["C2.table", "C6.table"])",
                                     R"("cases": [{"workload": "w.json", "operator": "C6", "space": "ansor",
                                         "layout": "free", "cores": 2}])");
  EXPECT_THAT(fault(cases), HasSubstr("a run called 'random', and there is none"));
  std::string whole = cases;
  whole.replace(whole.find("\"GA\", \"strategy\""), 4, "\"random\"");
  whole.replace(whole.rfind("\"GA\""), 4, "\"random\"");
  const Experiment experiment = parse_experiment(whole, "a.json").value();
  ASSERT_EQ(experiment.cases.size(), 1U);
  EXPECT_EQ(experiment.cases[0].op, "C6");
  EXPECT_EQ(experiment.cases[0].space, "ansor");
  EXPECT_TRUE(experiment.cases[0].layouts_are_free);
  EXPECT_EQ(experiment.cases[0].cores, 2);
  EXPECT_THAT(fault(replaced("\"score\"", "\"seconds_to_quality\"")), HasSubstr("a table has none"));
  EXPECT_THAT(fault(replaced("\"name\": \"a1\",", R"("name": "a1", "cases": [],)")),
              HasSubstr("either 'tables' or 'cases'"));
}

TEST(Experiment, WhatIsWrongIsNamed) {
  EXPECT_EQ(fault("[]"), "a1.json: the experiment is no object");
  EXPECT_THAT(fault(replaced("\"name\": \"a1\", ", "")), HasSubstr("the experiment has no 'name'"));
  EXPECT_THAT(fault(replaced("800", "0")), HasSubstr("'trials' of the experiment is no whole number from 1"));
  EXPECT_THAT(fault(replaced("800", "8.5")), HasSubstr("'trials' of the experiment is no whole number"));
  EXPECT_THAT(fault(replaced("\"batch\"", "\"botch\"")), HasSubstr("the experiment has no member 'botch'"));
  EXPECT_THAT(fault(replaced("\"GA\", \"strategy\"", "\"GBT\", \"strategy\"")),
              HasSubstr("two runs are called 'GBT'"));
  EXPECT_THAT(fault(replaced("\"run\": \"GA\"", "\"run\": \"GB\"")),
              HasSubstr("a bar speaks of the run 'GB', and there is none"));
  EXPECT_THAT(fault(replaced("\"than\": \"random\"", "\"than\": \"rand\"")),
              HasSubstr("a bar speaks of the run 'rand', and there is none"));
  EXPECT_THAT(fault(replaced("trials_to_quality", "speed")), HasSubstr("there is no quantity 'speed'"));
  EXPECT_THAT(fault(replaced("\"at_least\": 0.5, ", "")), HasSubstr("neither 'at_least' nor 'at_most'"));
  EXPECT_THAT(fault(replaced("\"share\": 0.9", "\"share\": 2")), HasSubstr("'share' of a bar"));
  EXPECT_THAT(fault(replaced("\"share\": 0.9", "\"after\": 9")), HasSubstr("of its final_quality alone"));
  EXPECT_THAT(fault(replaced("\"after\": 16", "\"after\": 0")), HasSubstr("'after' of a bar"));
  EXPECT_THAT(fault(replaced("\"least\"", "\"worst\"")),
              HasSubstr("there is no way across tables 'worst'; legal names are median, mean, least"));
  EXPECT_THAT(fault(replaced("[\"C2.table\", \"C6.table\"]", "[]")),
              HasSubstr("'tables' of the experiment names none"));
}

}  // namespace
}  // namespace lathe
