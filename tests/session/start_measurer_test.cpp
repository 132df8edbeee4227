// The worker is started for so many cores, or named where it is missing.
#include "session/start_measurer.h"

#include <gtest/gtest.h>

#include "session/session_fixture.h"

namespace lathe {
namespace {

using StartMeasurer = SessionTest;

TEST_F(StartMeasurer, ItsCpusAreThoseOfThisProcess) {
  const Result<Measurer> measurer = start_measurer(worker_, 1);
  ASSERT_TRUE(measurer.has_value()) << refusal_of(measurer);
  EXPECT_EQ(measurer->cpus(), std::vector<int>{allowed_cpus().front()});
  EXPECT_GT(measurer->worker_pid(), 0);
  EXPECT_EQ(refusal_of(start_measurer(worker_, 1, KeptInputs::present)), "");
}

TEST_F(StartMeasurer, AProgramThatIsMissingIsNamed) {
  const Result<Measurer> missing = start_measurer(path("bin/worker"), 1);
  EXPECT_EQ(refusal_of(missing),
            path("bin/worker") + ": the program worker is missing, it belongs beside lathe");
  EXPECT_EQ(missing.error().kind, ErrorKind::not_found);
  EXPECT_EQ(refusal_of(start_measurer("", 1)), "the program  is missing, it belongs beside lathe");
}

TEST_F(StartMeasurer, AnotherProgramIsNoWorker) {
  EXPECT_EQ(refusal_of(start_measurer("/bin/true", 1)),
            "'/bin/true' does not answer as this version's worker");
}

TEST_F(StartMeasurer, MoreCoresThanThereAreAreRefused) {
  EXPECT_EQ(refusal_of(start_measurer(worker_, 100'000)),
            "cannot measure on 100000 cores: this process may use " + std::to_string(allowed_cpus().size()) +
                " of the machine's cpus");
}

}  // namespace
}  // namespace lathe
