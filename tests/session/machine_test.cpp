// The yardsticks of this machine, in the order in which they are told.
#include "session/machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "measure/pinned_thread.h"
#include "session/session_fixture.h"

namespace lathe {
namespace {

using ::testing::ElementsAre;

struct Told {
  std::vector<std::string> lines;  // the target, then each figure without its value
  std::vector<double> values;
};

Told told_of_machine() {
  Told told;
  const Status done = measure_machine(
      [&](const Target& target) { told.lines.push_back(target.name); },
      [&](const MachineFigure& figure) {
        told.lines.push_back(figure.name + " " + figure.unit + " on " + std::to_string(figure.cores));
        told.values.push_back(figure.value);
      });
  EXPECT_TRUE(done.has_value()) << refusal_of(done);
  return told;
}

TEST(Machine, KnownTargetsBeginWithThisOne) {
  EXPECT_TRUE(known_targets().starts_with("native"));
  for (const char* name : {"x86-avx512", "x86-avx2", "aarch64-neon"})
    EXPECT_NE(known_targets().find(name), std::string::npos) << name;
}

// Figures of all cores would be those of one again.
TEST(Machine, OnOneCoreEachFigureIsTakenOnce) {
  const Result<Target> target = detect_target();
  if (!target) GTEST_SKIP();
  const PinnedThread pinned(allowed_cpus().front());
  const Told told = told_of_machine();
  EXPECT_THAT(told.lines, ElementsAre(target->name, "fma peak GFLOP/s on 1", "l1 read GB/s on 1",
                                      "l2 read GB/s on 1", "memory GB/s on 1"));
  for (const double value : told.values) EXPECT_GT(value, 0);
}

TEST(Machine, OnSeveralCoresPeakAndMemoryAreTakenOnAllToo) {
  const Result<Target> target = detect_target();
  const int cores = static_cast<int>(allowed_cpus().size());
  if (!target || cores == 1) GTEST_SKIP();
  const std::string all = std::to_string(cores);
  EXPECT_THAT(
      told_of_machine().lines,
      ElementsAre(target->name, "fma peak GFLOP/s on 1", "fma peak GFLOP/s on " + all, "l1 read GB/s on 1",
                  "l2 read GB/s on 1", "memory GB/s on 1", "memory GB/s on " + all));
}

}  // namespace
}  // namespace lathe
