#include "session/commands/train_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session/session_fixture.h"

namespace lathe {
namespace {

using ::testing::HasSubstr;

class TrainModelTest : public SessionTest {
 protected:
  void SetUp() override {
    SessionTest::SetUp();
    std::vector<Record> records;
    for (const int factor : {1, 2, 4, 8})
      records.push_back(record("split C j [" + std::to_string(factor) + "]\n", 1e-6 * (9 - factor)));
    append(records);
    request_.records = {path("r.db")};
    request_.cost_model = "gbt:child-weight=0.001";
    request_.out = path("m.model");
  }

  TrainRequest request_;
};

TEST_F(TrainModelTest, LearnsFromRecordsAndOrdersThem) {
  const Result<TrainedModel> trained = train_model(request_, teller());
  ASSERT_TRUE(trained) << refusal_of(trained);
  EXPECT_EQ(trained->tasks, 1);
  EXPECT_EQ(trained->programs, 4);
  const auto judged = judge_model(request_.out, request_.records, "", teller());
  ASSERT_TRUE(judged) << refusal_of(judged);
  ASSERT_EQ(judged->size(), 1U);
  EXPECT_EQ(judged->front().records, 4);
  EXPECT_GT(judged->front().ordered_pairs, 0.8);
}

TEST_F(TrainModelTest, WhatTeachesNothingOrIsNotThereIsASentence) {
  request_.leave_out = "mm";
  EXPECT_THAT(refusal_of(train_model(request_, teller())), HasSubstr("these records teach nothing"));
  request_.leave_out = "(";
  EXPECT_THAT(refusal_of(train_model(request_, teller())), HasSubstr("--leave-out: '(' is no expression"));
  request_.leave_out = "";
  request_.cost_model = "gbt:features=configuration";
  EXPECT_THAT(refusal_of(train_model(request_, teller())), HasSubstr("within one space alone"));
  request_.out = path("r.db");
  EXPECT_THAT(refusal_of(train_model(request_, teller())), HasSubstr("--out"));
}

}  // namespace
}  // namespace lathe
