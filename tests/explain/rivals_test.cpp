// The winner beside its rivals: which of them have bounds, and what is damaged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "explain/explain.h"
#include "records/own_record.h"
#include "space/all.h"

namespace lathe {
namespace {

using ::testing::IsEmpty;
using ::testing::StartsWith;

// A record of the product of 8 x 8 matrices, with this trace and time, of a sketch.
Record rival_of_sketch(int64_t id, const std::string& sketch, const std::string& trace, double seconds) {
  Record record = own_record(seconds);
  record.id = id;
  record.trace = trace;
  record.point = {"lathe", sketch, {}};
  return record;
}

constexpr Roofline kRoofline{.gflops = 1, .gigabytes = {1, 1, 1}};

TEST(Rivals, AreBoundWhereTheirTracesStillApply) {
  const std::vector<Record> records = {rival_of_sketch(1, "old", "split C zzz [2]\n", 2e-3),
                                       rival_of_sketch(2, "best", "split C i [2]\n", 1e-3),
                                       rival_of_sketch(3, "other", "", 3e-3)};
  const Result<Explanation> explanation = explain(records, kRoofline);
  ASSERT_TRUE(explanation.has_value()) << explanation.error().to_string();
  ASSERT_EQ(explanation->sketches.size(), 3U);
  EXPECT_EQ(explanation->sketches[0].tried.what, "best");
  EXPECT_DOUBLE_EQ(explanation->sketches[0].bound_seconds(), 2 * 8 * 8 * 8 * 1e-9);
  EXPECT_EQ(explanation->sketches[1].tried.what, "old");
  EXPECT_THAT(explanation->sketches[1].stages, IsEmpty());
  EXPECT_EQ(explanation->sketches[1].bound_seconds(), 0);
  EXPECT_DOUBLE_EQ(explanation->sketches[2].bound_seconds(), 2 * 8 * 8 * 8 * 1e-9);
  EXPECT_EQ(explanation->flops, 2 * 8 * 8 * 8);
}

TEST(Rivals, WithoutAProgramHaveNoBound) {
  Record failed = rival_of_sketch(1, "failed", "split C i [2]\n", 1);
  failed.measurement = failed_measurement(ErrorKind::timeout, "it hung");
  const std::vector<Record> records = {failed, rival_of_sketch(2, "best", "", 1e-3)};
  const Result<Explanation> explanation = explain(records, kRoofline);
  ASSERT_TRUE(explanation.has_value()) << explanation.error().to_string();
  EXPECT_THAT(explanation->sketches[1].stages, IsEmpty());
  EXPECT_FALSE(explanation->sketches[1].tried.best_seconds.has_value());
  ASSERT_EQ(explanation->failures.size(), 1U);
  EXPECT_EQ(explanation->failures[0].what, "timeout");
  EXPECT_THAT(explanation->steps, IsEmpty());
}

// The steps' words need no space; what else the program might have been does.
TEST(Rivals, OfASpaceThatThereIsNotNoParametersAreTold) {
  Record record = rival_of_sketch(1, "tile", "split C i [2]\n", 1e-3);
  record.point.space = "no such space";
  const Result<Explanation> explanation = explain(std::vector{record}, std::nullopt);
  ASSERT_TRUE(explanation.has_value()) << explanation.error().to_string();
  EXPECT_EQ(explanation->steps.size(), 1U);
  EXPECT_EQ(explanation->steps[0].subject, "C");
  EXPECT_THAT(explanation->parameters, IsEmpty());
}

TEST(Rivals, ParametersOfTheWinnersSketchAreTold) {
  const Record known = own_record(1);
  const Target target = with_cores(parse_target(known.target).value(), known.cores);
  const Task task = task_of(known.task, target).value();
  const Space space = derive_space(task).value();
  std::vector<Record> records;
  // The sketch's preference, and a neighbour of it.
  const Point first = space.preferred_points().front();
  const Sketch& sketch = space.sketch_of(first);
  std::vector<Point> points = {first};
  for (const auto& integers : neighbours(sketch.domain, first.integers))
    points.push_back({first.sketch, integers});
  ASSERT_GT(points.size(), 1U);
  for (const Point& point : points) {
    const Result<Trace> trace = space.trace(point);
    if (!trace) continue;
    const auto id = static_cast<int64_t>(records.size()) + 1;
    records.push_back(rival_of_sketch(id, sketch.name, to_string(*trace), 1e-3 * static_cast<double>(id)));
    records.back().point.choices = choices_of(sketch.domain, point.integers);
  }
  const Result<Explanation> explanation = explain(records, std::nullopt);
  ASSERT_TRUE(explanation.has_value()) << explanation.error().to_string();
  EXPECT_EQ(explanation->best.id, 1);
  ASSERT_FALSE(explanation->parameters.empty());
  for (const ParameterTried& parameter : explanation->parameters) {
    EXPECT_GE(parameter.values.size(), 2U) << parameter.name;
    EXPECT_EQ(parameter.values.front().best_record, 1) << parameter.name;
  }
}

TEST(Rivals, ABestRecordThatIsDamagedIsAnError) {
  Record record = rival_of_sketch(4, "tile", "knit C i\n", 1e-3);
  EXPECT_EQ(explain(std::vector{record}, std::nullopt).error().to_string(),
            "trace of record 4:1:1: 'knit' is no schedule step");
  record.trace = "";
  record.task.dag = "C[i:8] = ";
  EXPECT_THAT(explain(std::vector{record}, std::nullopt).error().to_string(), StartsWith("task "));
  EXPECT_EQ(explain({}, std::nullopt).error().message, "no record of this task has a program that works");
}

}  // namespace
}  // namespace lathe
