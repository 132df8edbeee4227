#include "measure/pinned_thread.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "target/detect.h"

namespace lathe {
namespace {

using ::testing::ElementsAre;

TEST(PinnedThread, StaysOnItsCpusAndThenHasAllOfThemAgain) {
  const std::vector<int> all = allowed_cpus();
  {
    const PinnedThread pinned(all.back());
    EXPECT_THAT(allowed_cpus(), ElementsAre(all.back()));
    std::vector<int> of_thread;
    std::thread([&] { of_thread = allowed_cpus(); }).join();
    EXPECT_THAT(of_thread, ElementsAre(all.back()));
  }
  EXPECT_EQ(allowed_cpus(), all);
  {
    const PinnedThread pinned(all);
    EXPECT_EQ(allowed_cpus(), all);
  }
  EXPECT_EQ(allowed_cpus(), all);
}

}  // namespace
}  // namespace lathe
