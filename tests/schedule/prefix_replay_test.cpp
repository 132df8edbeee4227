#include "schedule/prefix_replay.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "loop/print.h"
#include "ops/workloads.h"
#include "schedule/apply.h"
#include "space/all.h"
#include "target/target.h"

namespace lathe {
namespace {

Task convolution() {
  const auto workloads = parse_workloads(R"([{"name": "conv", "op": "conv2d", "batch": 1, "height": 14,
      "width": 14, "in_channels": 32, "out_channels": 32, "kernel": 3, "stride": 1, "padding": 1}])",
                                         "test");
  return *make_task(workloads->front(), with_cores(*parse_target("x86-avx2"), 1), true);
}

// Points in order, so that neighbours share long prefixes, and out of order, across sketches and rewrites.
TEST(PrefixReplay, GivesWhatApplyTraceGives) {
  const Task task = convolution();
  const auto space = derive_space(task);
  ASSERT_TRUE(space.has_value());
  Rng rng(11);
  std::vector<Point> points;
  for (int i = 0; i < 90; ++i) {
    const int sketch = static_cast<int>(rng.below(space->sketches().size()));
    points.push_back({sketch, sample(space->sketches()[static_cast<size_t>(sketch)].domain, rng)});
  }
  for (size_t i = 0; i < 30; ++i) points.push_back(points[i]);
  std::sort(points.begin() + 20, points.end());
  PrefixReplay replay(task);
  int compared = 0;
  for (const Point& point : points) {
    const auto trace = space->trace(point);
    if (!trace) continue;
    const auto expected = apply_trace(task, *trace);
    const auto actual = replay.apply(*trace);
    ASSERT_EQ(actual.has_value(), expected.has_value());
    if (!expected) continue;
    EXPECT_EQ(to_string(*actual), to_string(*expected));
    ++compared;
  }
  EXPECT_GT(compared, 40);
}

TEST(PrefixReplay, GoesOnAfterAnIllegalStep) {
  const Task task = convolution();
  const Trace legal = *parse_trace("split O f [8]\nvectorize O f.1\n");
  const Trace illegal = *parse_trace("split O f [8]\nvectorize O nothing\nunroll O f.0\n");
  PrefixReplay replay(task);
  const auto failed = replay.apply(illegal);
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().where, "vectorize O nothing");
  const auto applied = replay.apply(legal);
  ASSERT_TRUE(applied.has_value());
  EXPECT_EQ(to_string(*applied), to_string(*apply_trace(task, legal)));
  EXPECT_EQ(to_string(*replay.apply({})), to_string(*apply_trace(task, {})));
}

}  // namespace
}  // namespace lathe
