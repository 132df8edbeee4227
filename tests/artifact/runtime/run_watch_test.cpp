// Runs that tell when each of their steps began and ended.
#include "artifact/runtime/run_watch.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "artifact/runtime/written_model.h"

namespace lathe {
namespace {

using written::kColumns;
using written::kCount;
using written::summing_model;
using written::Values;
using written::values_from;
using written::WrittenModel;

Values expected_sums(const Values& x) {
  Values y = {};
  for (int64_t i = 0; i < kCount; ++i) {
    const float before = i % kColumns == 0 ? 0 : y.at[i - 1];
    y.at[i] = before + x.at[i] + 1;
  }
  for (int64_t i = 0; i < kCount; ++i) y.at[i] *= static_cast<float>(i % 5);
  return y;
}

// Room for what a timed run of a model with so many launches tells.
struct ToldTimes {
  explicit ToldTimes(int launch_count, int part_room = 0)
      : launches(static_cast<size_t>(launch_count)), parts(static_cast<size_t>(part_room)) {
    times.size = sizeof times;
    times.launch_count = launch_count;
    times.launches = launches.data();
    times.part_room = part_room;
    times.parts = parts.data();
  }

  std::vector<lathe_interval> launches;
  std::vector<lathe_part> parts;
  lathe_run_times times = {};
};

bool run_timed(WrittenModel& model, const Values& x, Values& y, ToldTimes& told) {
  const void* const inputs[] = {x.at};
  void* const outputs[] = {y.at};
  return model.model().run_timed(inputs, outputs, &told.times);
}

TEST(RunWatch, ATimedRunComputesTheSameAndItsStepsFollowEachOther) {
  WrittenModel model(summing_model());
  const Values x = values_from(3);
  Values y = {};
  ToldTimes told(2);
  for (int run = 0; run < 3; ++run) {
    ASSERT_TRUE(run_timed(model, x, y, told)) << last_model_error();
    EXPECT_EQ(y, expected_sums(x));
    const std::vector<lathe_interval> steps = {told.times.inputs, told.times.constants, told.launches[0],
                                               told.launches[1], told.times.outputs};
    int64_t last = told.times.call.begin;
    for (const lathe_interval& step : steps) {
      EXPECT_LE(last, step.begin);
      EXPECT_LE(step.begin, step.end);
      last = step.end;
    }
    EXPECT_LE(last, told.times.call.end);
  }
  EXPECT_EQ(told.times.part_count, 0) << "none are wanted";
}

// A part lies within its launch, whichever of the threads did it.
TEST(RunWatch, PartsSayWhichThreadDidWhatOfALaunch) {
  WrittenModel model(summing_model());
  const Values x = values_from(4);
  Values y = {};
  ToldTimes told(2, 100);
  ASSERT_TRUE(run_timed(model, x, y, told)) << last_model_error();
  EXPECT_EQ(y, expected_sums(x));
  ASSERT_GE(told.times.part_count, 2);
  ASSERT_LE(told.times.part_count, 100);
  for (int i = 0; i < told.times.part_count; ++i) {
    const lathe_part& part = told.parts[static_cast<size_t>(i)];
    ASSERT_TRUE(part.launch == 0 || part.launch == 1);
    EXPECT_TRUE(part.thread == 0 || part.thread == 1);
    const lathe_interval& launch = told.launches[static_cast<size_t>(part.launch)];
    EXPECT_LE(launch.begin, part.time.begin);
    EXPECT_LE(part.time.begin, part.time.end);
    EXPECT_LE(part.time.end, launch.end);
  }
  ToldTimes narrow(2, 1);
  ASSERT_TRUE(run_timed(model, x, y, narrow)) << last_model_error();
  EXPECT_GE(narrow.times.part_count, 2) << "also those that there was no room for";
}

TEST(RunWatch, TimesWithoutRoomAreRefused) {
  WrittenModel model(summing_model());
  const Values x = values_from(5);
  Values y = {};
  ToldTimes other_version(2);
  other_version.times.size -= 8;
  EXPECT_FALSE(run_timed(model, x, y, other_version));
  EXPECT_EQ(last_model_error(), "the times of a run have another size than the " +
                                    std::to_string(sizeof(lathe_run_times)) + " bytes of this library");
  ToldTimes too_few(1);
  EXPECT_FALSE(run_timed(model, x, y, too_few));
  EXPECT_STREQ(last_model_error(), "a run has 2 launches, and there is room for the times of 1");
  ToldTimes nowhere(2);
  nowhere.times.part_room = 5;
  nowhere.times.parts = nullptr;
  EXPECT_FALSE(run_timed(model, x, y, nowhere));
  EXPECT_STREQ(last_model_error(), "the list of parts is null, or has a length below 0");
}

}  // namespace
}  // namespace lathe
