// A point's forms are made once in a round, and are those of its trace.
#include "tune/candidates.h"

#include <gtest/gtest.h>

#include "cost/none.h"
#include "loop/print.h"
#include "lower/programs.h"
#include "schedule/apply.h"

namespace lathe::testing {
namespace {

class CandidatesTest : public ::testing::Test {
 protected:
  std::shared_ptr<const Task> task_ =
      std::make_shared<const Task>(task_of("C[i:40, j:50] = sum(r:30) A[i, r] * B[r, j]", {"B"}));
  Candidates candidates_ = Candidates::create(task_).value();
  Point point_ = candidates_.space().preferred_points().front();
};

TEST_F(CandidatesTest, AProgramIsThatOfItsTrace) {
  const Trace trace = candidates_.space().trace(point_).value();
  EXPECT_EQ(to_string(candidates_.trace(point_).value()), to_string(trace));
  EXPECT_EQ(candidates_.identity(point_), hash_of(trace));
  const auto written = candidates_.written(point_).value();
  EXPECT_EQ(written->hash, hash_of(trace));
  EXPECT_EQ(to_string(written->trace), to_string(trace));
  EXPECT_EQ(to_string(written->program), to_string(apply_trace(*task_, trace).value()));
  EXPECT_EQ(to_string(candidates_.trace(point_).value()), to_string(trace)) << "once it is written too";
}

TEST_F(CandidatesTest, OfARoundTheSameProgramIsHandedOn) {
  EXPECT_TRUE(candidates_.features(point_).has_value());
  const auto first = candidates_.written(point_).value();
  EXPECT_EQ(candidates_.written(point_).value(), first);
  candidates_.end_round();
  const auto later = candidates_.written(point_).value();
  EXPECT_NE(later, first);
  EXPECT_EQ(later->hash, first->hash);
}

}  // namespace
}  // namespace lathe::testing
