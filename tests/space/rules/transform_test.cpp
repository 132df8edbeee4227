// Chains of transforms, and the vectors that they run along.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rewrite/same_result.h"
#include "space/all.h"

namespace lathe::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// The channels of a group are a digit of an image's channels: vectors run along them on either side.
TEST(TransformRule, VectorsRunAlongTheChannelsOfAGroup) {
  const Task task = task_of_workload(R"({"name":"g", "op":"conv2d", "batch":1, "height":11, "width":9,
      "in_channels":27, "out_channels":30, "kernel":3, "stride":1, "padding":1, "dilation":1, "groups":3})");
  const Result<Space> space = derive_space(task);
  ASSERT_TRUE(space) << space.error().to_string();
  Rng rng(5);
  int met = 0;
  for (size_t s = 0; s < space->sketches().size(); ++s) {
    const Sketch& sketch = space->sketches()[s];
    if (!sketch.name.starts_with("divided_axis winograd")) continue;
    ++met;
    for (int i = 0; i < 4; ++i) {
      const Point point{static_cast<int>(s), i == 0 ? sketch.preferred : sample(sketch.domain, rng)};
      const Result<Trace> trace = space->trace(point);
      if (!trace && i > 0) continue;
      ASSERT_TRUE(trace) << trace.error().to_string();
      const std::string text = to_string(*trace);
      EXPECT_THAT(text, AllOf(HasSubstr("vectorize O.D.V c.1"), HasSubstr("vectorize O f_d")));
      expect_same(task, *trace);
    }
  }
  EXPECT_GT(met, 2);
}

}  // namespace
}  // namespace lathe::testing
