// Of a store and a load on either side, one sees the other's store, although only one side has a fence.
#include "runtime/process_fence.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace lathe::testing {
namespace {

constexpr int kEnd = -1;

void wait_for(const std::atomic<int>& word, int value) {
  for (int spins = 0; word.load(std::memory_order_acquire) != value; ++spins)
    if (spins > 2000) std::this_thread::yield();
}

// Without process_fence some hundred of 50,000 rounds on two cpus leave both unseen.
TEST(ProcessFence, OneSideSeesTheOther) {
  if (!register_process_fence()) GTEST_SKIP() << "this kernel has no such fence";
  alignas(64) std::atomic<int> light{0};
  alignas(64) std::atomic<int> heavy{0};
  alignas(64) std::atomic<int> begun{0};
  alignas(64) std::atomic<int> done{0};
  int light_saw = 0;
  std::thread other([&] {
    for (int round = 1;; ++round) {
      int begin = 0;
      for (int spins = 0; (begin = begun.load(std::memory_order_acquire)) != round && begin != kEnd; ++spins)
        if (spins > 2000) std::this_thread::yield();
      if (begin == kEnd) return;
      light.store(1, std::memory_order_release);
      fence_by_others();
      light_saw = heavy.load(std::memory_order_relaxed);
      done.store(round, std::memory_order_release);
    }
  });
  int unseen = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
  for (int round = 1; round < 50000 && std::chrono::steady_clock::now() < end; ++round) {
    light.store(0);
    heavy.store(0);
    begun.store(round, std::memory_order_release);
    for (int delay = round % 150; delay > 0; --delay) std::atomic_signal_fence(std::memory_order_seq_cst);
    heavy.store(1, std::memory_order_relaxed);
    process_fence();
    const int heavy_saw = light.load(std::memory_order_relaxed);
    wait_for(done, round);
    if (light_saw == 0 && heavy_saw == 0) ++unseen;
  }
  begun.store(kEnd, std::memory_order_release);
  other.join();
  EXPECT_EQ(unseen, 0);
}

}  // namespace
}  // namespace lathe::testing
