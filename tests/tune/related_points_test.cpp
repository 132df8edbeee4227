#include "tune/related_points.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/compiler_version.h"
#include "base/temporary_folder.h"
#include "expr/parse.h"
#include "space/all.h"
#include "target/all.h"

namespace lathe {
namespace {

class RelatedPointsTest : public ::testing::Test {
 protected:
  static Task product(int64_t rows) {
    const std::string text = "C[i:" + std::to_string(rows) + ", j:64] = sum(k:96) A[i,k] * B[k,j]";
    return make_task("p" + std::to_string(rows), parse_dag(text).value(), generic_target("x86-avx2")).value();
  }
  static Record record(const Task& task, const Space& space, const Point& point, double seconds) {
    Record record;
    record.task = text_of(task);
    record.target = task.target.name;
    record.machine = task.target.machine;
    record.cores = cores_of(task.target);
    record.compiler_version = std::string(compiler_version());
    record.trace = to_string(space.trace(point).value());
    const Sketch& sketch = space.sketch_of(point);
    record.point = {"lathe", sketch.name, choices_of(sketch.domain, point.integers)};
    record.measurement =
        seconds > 0 ? measurement_of({seconds}) : failed_measurement(ErrorKind::wrong_result, "differs");
    record.strategy = "by hand";
    return record;
  }
  // Legal points that the space does not prefer, drawn with this seed.
  static std::vector<Point> drawn(const Space& space, int count, uint64_t seed) {
    Rng rng(seed);
    std::vector<Point> points;
    while (std::ssize(points) < count) {
      const int sketch = static_cast<int>(rng.below(space.sketches().size()));
      Point point{sketch, sample(space.sketches()[static_cast<size_t>(sketch)].domain, rng)};
      if (space.trace(point)) points.push_back(std::move(point));
    }
    return points;
  }
  void keep(const Task& task, const std::vector<Point>& points, const std::vector<double>& seconds) {
    const Space space = derive_space(task).value();
    for (size_t i = 0; i < points.size(); ++i)
      ASSERT_TRUE(store_->append(record(task, space, points[i], seconds[i])));
  }
  std::vector<Point> related(const Task& task, size_t most = 8) {
    return related_points(task, derive_space(task).value(), "lathe", *store_, most).value();
  }

  TemporaryFolder folder_;
  std::optional<RecordStore> store_ = RecordStore::open((folder_.path() / "r.db").string()).value();
};

TEST_F(RelatedPointsTest, AreTheBestOfTasksOfTheKindTheNearestSizeFirst) {
  const Task small = product(192);
  const Task large = product(768);
  const std::vector<Point> of_small = drawn(derive_space(small).value(), 3, 1);
  const std::vector<Point> of_large = drawn(derive_space(large).value(), 3, 2);
  keep(large, of_large, {3e-3, 2e-3, 0});
  keep(small, of_small, {3e-4, 2e-4, 1e-4});
  const std::vector<Point> found = related(product(256));
  ASSERT_EQ(found.size(), 2U);
  // Sizes that both have leave what was chosen as it was.
  EXPECT_EQ(found[0].sketch, of_small[2].sketch);
  EXPECT_EQ(found[1].sketch, of_large[1].sketch) << "one that failed is nobody's best";
  EXPECT_EQ(related(product(256), 1).size(), 1U);
  EXPECT_TRUE(related(product(256), 0).empty());
}

TEST_F(RelatedPointsTest, HaveProgramsAndAreNewToTheSpace) {
  const Task task = product(200);
  const Space space = derive_space(task).value();
  for (const int64_t rows : {7, 48, 100, 199, 201, 400, 1024}) {
    const Task other = product(rows);
    keep(other, drawn(derive_space(other).value(), 4, static_cast<uint64_t>(rows)), {4e-4, 3e-4, 2e-4, 1e-4});
  }
  const std::vector<Point> found = related(task);
  EXPECT_FALSE(found.empty());
  for (const Point& point : found) {
    EXPECT_TRUE(space.trace(point));
    EXPECT_EQ(std::ranges::count(found, point), 1);
    EXPECT_EQ(std::ranges::count(space.preferred_points(), point), 0);
  }
}

// A newer compiler begins with what an older one found, for the task itself too; what it measured itself it
// has.
TEST_F(RelatedPointsTest, OfTheTaskItselfComeWithAnotherVersionOfTheCompiler) {
  const Task task = product(256);
  const Space space = derive_space(task).value();
  const std::vector<Point> points = drawn(space, 2, 4);
  keep(task, {points[0]}, {2e-4});
  EXPECT_TRUE(related(task).empty());
  Record older = record(task, space, points[1], 1e-4);
  older.compiler_version = "an older one";
  ASSERT_TRUE(store_->append(older));
  EXPECT_EQ(related(task), std::vector<Point>{points[1]});
}

// The best point that a task's space prefers itself says nothing new.
TEST_F(RelatedPointsTest, WhatTheSpacePrefersIsNoneOfThem) {
  const Task other = product(257);
  const Space space = derive_space(other).value();
  keep(other, {space.preferred_points().front()}, {1e-4});
  const std::vector<Point> found = related(product(256));
  const std::vector<Point> preferred = derive_space(product(256)).value().preferred_points();
  for (const Point& point : found) EXPECT_EQ(std::ranges::count(preferred, point), 0);
}

TEST_F(RelatedPointsTest, ComeOfTheSameKindAndProcessorAlone) {
  const Task other = product(192);
  const Space space = derive_space(other).value();
  Record elsewhere = record(other, space, drawn(space, 1, 3)[0], 1e-4);
  elsewhere.machine = "another processor";
  ASSERT_TRUE(store_->append(elsewhere));
  EXPECT_TRUE(related(product(256)).empty());
  keep(other, drawn(space, 1, 3), {1e-4});
  EXPECT_EQ(related(product(256)).size(), 1U);
  const Task maximum = make_task("m", parse_dag("C[i:256, j:64] = max(k:96) A[i,k] * B[k,j]").value(),
                                 generic_target("x86-avx2"))
                           .value();
  EXPECT_TRUE(related(maximum).empty());
}

}  // namespace
}  // namespace lathe
