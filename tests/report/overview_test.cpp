#include "report/overview.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "report/sample_report.h"

namespace lathe {
namespace {

using ::testing::ElementsAre;

Record at(double seconds, int64_t milliseconds) {
  Record record = own_record(seconds);
  record.created_at = milliseconds;
  return record;
}

TEST(Overview, TheCurveHasEachProgramThatWasBetterThanAllBefore) {
  const TaskOverview overview = sample_overview({failed_record(ErrorKind::crash, "it ended"), at(4e-6, 30),
                                                 at(5e-6, 10), at(2e-6, 20), at(2e-6, 25), at(3e-6, 40)});
  EXPECT_EQ(overview.comparable, 6);
  EXPECT_EQ(overview.first_seconds, 4e-6);
  EXPECT_EQ(overview.first_record, 2);
  ASSERT_EQ(overview.curve.size(), 2U);
  EXPECT_EQ(overview.curve[0].trial, 2);
  EXPECT_EQ(overview.curve[0].seconds, 4e-6);
  EXPECT_EQ(overview.curve[0].spent, 0.25) << "an eighth of a second each";
  EXPECT_EQ(overview.curve[1].trial, 4);
  EXPECT_EQ(overview.curve[1].spent, 0.5);
  EXPECT_EQ(overview.wall_seconds, 0.75);
  EXPECT_EQ(overview.first_at, 10);
  EXPECT_EQ(overview.last_at, 1'700'000'000'123);
  EXPECT_EQ(gain_of(overview), 2);
  EXPECT_EQ(overview.flops, 2 * 8 * 8 * 8);
  EXPECT_EQ(overview.bytes, 3 * 8 * 8 * 4);
  EXPECT_DOUBLE_EQ(gflops_at(overview, 2e-6).value(), 0.512);
  EXPECT_FALSE(gflops_at(overview, std::nullopt));
}

TEST(Overview, TimesOfOtherProcessorsAndVersionsSayNothing) {
  Record elsewhere = own_record(9e-6);
  elsewhere.machine = "another processor";
  Record earlier = own_record(8e-6);
  earlier.compiler_version = "0.0";
  const TaskOverview overview = sample_overview({elsewhere, earlier, own_record(4e-6), own_record(1e-6)});
  EXPECT_EQ(overview.machine, "test machine");
  EXPECT_EQ(overview.comparable, 2);
  EXPECT_EQ(overview.summary.trials, 4);
  EXPECT_EQ(overview.first_seconds, 4e-6);
  EXPECT_THAT(overview.compiler_versions, ElementsAre(own_record(1).compiler_version, "0.0"));
}

TEST(Overview, WithoutTimesSpentThereAreNone) {
  Record record = own_record(1e-6);
  record.wall_seconds = 0;
  EXPECT_FALSE(sample_overview({record}).curve.at(0).spent);
}

TEST(Overview, FailuresAreCountedByKind) {
  const TaskOverview overview =
      sample_overview({failed_record(ErrorKind::build, "refused"), failed_record(ErrorKind::timeout, "late"),
                       failed_record(ErrorKind::timeout, "later")});
  ASSERT_EQ(overview.failures.size(), 2U);
  EXPECT_EQ(overview.failures[0].kind, ErrorKind::timeout);
  EXPECT_EQ(overview.failures[0].count, 2);
  EXPECT_EQ(overview.failures[0].message, "late");
  EXPECT_FALSE(overview.first_seconds);
  EXPECT_FALSE(gain_of(overview));
  const nlohmann::ordered_json json = json_of(overview);
  EXPECT_EQ(json.at("failures").dump(),
            R"({"timeout":{"count":2,"first":"late"},"build":{"count":1,"first":"refused"}})");
  for (const char* unknown : {"seconds", "record", "gflops", "first_seconds", "gain"})
    EXPECT_TRUE(json.at(unknown).is_null()) << unknown;
}

TEST(Overview, AFormulaOfAnotherVersionMayNotBeRead) {
  Record record = own_record(1e-6);
  record.task.dag = "C[i:8] = what nobody knows";
  const TaskOverview overview = sample_overview({record});
  EXPECT_FALSE(overview.flops || overview.bytes);
  EXPECT_TRUE(json_of(overview).at("gflops").is_null());
}

TEST(Overview, NamesTellTasksApart) {
  TaskText task = own_record(1).task;
  EXPECT_EQ(described(task), "mm");
  task.free_layouts = false;
  EXPECT_EQ(described(task), "mm (row-major)");
  task.runs_cold = true;
  task.algorithm = "winograd";
  EXPECT_EQ(described(task), "mm (cold) (row-major) (winograd required)");
}

}  // namespace
}  // namespace lathe
