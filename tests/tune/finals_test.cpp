// The end of a tuning: records race and are confirmed, whatever became of them meanwhile.
#include "tune/finals.h"

#include <gtest/gtest.h>

#include <vector>

#include "lower/programs.h"
#include "target/all.h"
#include "target/detect.h"
#include "tune/in_process_runner.h"
#include "tune/task_tuner.h"

namespace lathe::testing {
namespace {

class Finals : public ::testing::Test {
 protected:
  Finals() {
    runner_.seconds = [](const Module&) { return 1e-3; };
    Task task = task_of("C[i:33, j:47] = sum(r:29) A[i, r] * B[r, j]");
    task.target = with_cores(detect_target().value(), 1);
    TaskTuner tuner = TaskTuner::create(task, {}, evaluator_, records_).value();
    EXPECT_TRUE(tuner.step(4, {}));
    finalists_ = tuner.finalists(3);
    checked_ = tuner.checked();
  }

  InProcessRunner runner_;
  LocalEvaluator evaluator_{runner_};
  RecordStore records_ = RecordStore::open(":memory:").value();
  std::vector<RankedRecord> finalists_;
  CheckedTask checked_;
};

TEST_F(Finals, RacersRecordsTakeInWhatTheyRan) {
  ASSERT_EQ(finalists_.size(), 3U);
  const size_t before = records_.by_id(finalists_[0].id)->measurement.samples.size();
  const int runs = runner_.runs;
  ASSERT_TRUE(race(checked_, finalists_, evaluator_, records_, {}));
  EXPECT_EQ(runner_.runs, runs + 15) << "five turns";
  EXPECT_EQ(records_.by_id(finalists_[0].id)->measurement.samples.size(), before + 5);
}

// Three race while the machine takes twice as long: the fourth, which did not, must not win by that.
TEST_F(Finals, NoTimeWinsThatWasNotTakenBesideTheOthers) {
  runner_.seconds = [](const Module&) { return 2e-3; };
  const int runs = runner_.runs;
  ASSERT_TRUE(race(checked_, finalists_, evaluator_, records_, {}));
  EXPECT_EQ(runner_.runs, runs + 15 + 10);
  for (int64_t id = 1; id <= 4; ++id) EXPECT_EQ(records_.by_id(id)->measurement.seconds, 2e-3) << id;
}

TEST_F(Finals, ARecordThatSomebodyPrunesIsLeftOut) {
  ASSERT_EQ(records_.prune(1).value(), 3);
  EXPECT_TRUE(race(checked_, finalists_, evaluator_, records_, {}));
  const auto confirmed = confirm_best(checked_, evaluator_, records_, {});
  ASSERT_TRUE(confirmed) << confirmed.error().to_string();
  EXPECT_TRUE(confirmed->winner.has_value());
}

TEST_F(Finals, AWrongWinnerFailsAndTheNextTakesItsPlace) {
  const int64_t best = records_.best({}).value()->id;
  int spoilt = 0;
  runner_.spoil = [&](const Module&, const MeasureInputs&, const Outputs& outputs) {
    if (spoilt++ == 0) spoil_element(outputs, 0);
  };
  const Confirmation confirmed = confirm_best(checked_, evaluator_, records_, {}).value();
  EXPECT_EQ(confirmed.failed, 1);
  EXPECT_EQ(records_.by_id(best)->measurement.failure->kind, ErrorKind::wrong_result);
  ASSERT_TRUE(confirmed.winner);
  EXPECT_NE(confirmed.winner->record, best);
  EXPECT_EQ(confirmed.seconds, records_.by_id(confirmed.winner->record)->measurement.seconds);
}

TEST_F(Finals, WhereAllAreWrongThereIsNoWinner) {
  runner_.spoil = [](const Module&, const MeasureInputs&, const Outputs& outputs) {
    spoil_element(outputs, 0);
  };
  const Confirmation confirmed = confirm_best(checked_, evaluator_, records_, {}).value();
  EXPECT_FALSE(confirmed.winner);
  EXPECT_EQ(confirmed.seconds, 0);
  EXPECT_EQ(confirmed.failed, 4);
}

}  // namespace
}  // namespace lathe::testing
