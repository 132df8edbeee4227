// Of a store and a load on either side, one sees the other's store, although only one side has a fence.
#include "runtime/process_fence.h"

#include <gtest/gtest.h>

#include <thread>

namespace lathe::testing {
namespace {

// Both sides meet before each round, and again behind it.
class Meeting {
 public:
  void meet() {
    const int round = round_.load();
    if (arrived_.fetch_add(1) == 1) {
      arrived_.store(0);
      round_.fetch_add(1);
      return;
    }
    while (round_.load() == round) std::this_thread::yield();
  }

 private:
  std::atomic<int> arrived_{0};
  std::atomic<int> round_{0};
};

TEST(ProcessFence, OneSideSeesTheOther) {
  if (!register_process_fence()) GTEST_SKIP() << "this kernel has no such fence";
  constexpr int kRounds = 20000;
  std::atomic<int> light{0};
  std::atomic<int> heavy{0};
  int light_saw = 0;
  int heavy_saw = 0;
  int unseen = 0;
  Meeting meeting;
  std::thread other([&] {
    for (int round = 0; round < kRounds; ++round) {
      meeting.meet();
      light.store(1, std::memory_order_release);
      fence_by_others();
      light_saw = heavy.load(std::memory_order_relaxed);
      meeting.meet();
    }
  });
  for (int round = 0; round < kRounds; ++round) {
    light.store(0);
    heavy.store(0);
    meeting.meet();
    heavy.store(1, std::memory_order_relaxed);
    process_fence();
    heavy_saw = light.load(std::memory_order_relaxed);
    meeting.meet();
    if (light_saw == 0 && heavy_saw == 0) ++unseen;
  }
  other.join();
  EXPECT_EQ(unseen, 0);
}

}  // namespace
}  // namespace lathe::testing
