// The machine's pace as the fastest program tells it.
#include "tune/pace.h"

#include <gtest/gtest.h>

#include "evaluate/modelled_evaluator.h"
#include "lower/programs.h"

namespace lathe::testing {
namespace {

class PaceTest : public ::testing::Test {
 protected:
  PaceTest() {
    const Task task = task_of("C[i:4] = A[i] + 1.0");
    job_.checked.task = std::make_shared<const Task>(task);
    job_.program = write_program(task, {}).value();
  }

  double seconds_ = 1e-3;
  int asked_ = 0;
  ModelledEvaluator machine_{[this](const Task&, const Written&) -> Result<double> {
    ++asked_;
    return seconds_;
  }};
  MeasureJob job_;
  Pace pace_;
};

TEST_F(PaceTest, IsOneWithoutAProgram) {
  ASSERT_TRUE(pace_.take(machine_, {}));
  EXPECT_EQ(asked_, 0);
  EXPECT_EQ(pace_.now(), 1);
}

TEST_F(PaceTest, IsThatOfTheFastestProgram) {
  pace_.offer(job_, 1e-3);
  pace_.offer(job_, 5e-3);
  seconds_ = 1.5e-3;
  ASSERT_TRUE(pace_.take(machine_, {}));
  EXPECT_DOUBLE_EQ(pace_.now(), 1.5);
  seconds_ = 1.02e-3;
  ASSERT_TRUE(pace_.take(machine_, {}));
  EXPECT_EQ(pace_.now(), 1) << "the noise of a measurement";
  EXPECT_DOUBLE_EQ(pace_.slowest(), 1.5);
  seconds_ = 0.5e-3;
  ASSERT_TRUE(pace_.take(machine_, {}));
  EXPECT_EQ(pace_.now(), 1) << "it was slow all the time";
  seconds_ = 1e-3;
  ASSERT_TRUE(pace_.take(machine_, {}));
  EXPECT_DOUBLE_EQ(pace_.now(), 2);
}

TEST_F(PaceTest, NothingIsMeasuredOnceTheWatchIsOver) {
  pace_.offer(job_, 1e-3);
  ASSERT_TRUE(pace_.take(machine_, {.stop = [] { return true; }}));
  EXPECT_EQ(asked_, 0);
}

}  // namespace
}  // namespace lathe::testing
