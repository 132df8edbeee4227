#include "runtime/fork_generation.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "base/child.h"

namespace lathe {
namespace {

TEST(ForkGeneration, IsThatOfNoAncestor) {
  const uint32_t own = fork_generation();
  EXPECT_NE(own, 0u);
  EXPECT_EQ(exit_status(start_child([&] {
              const uint32_t child = fork_generation();
              const bool is_new = child != 0 && child != own && child == fork_generation();
              const int grandchild = exit_status(start_child([&] {
                const uint32_t last = fork_generation();
                return last != 0 && last != own && last != child ? 0 : 1;
              }));
              return is_new && grandchild == 0 ? 0 : 1;
            })),
            0);
  EXPECT_EQ(fork_generation(), own);
}

TEST(ForkGeneration, IsTheSameForAllThreadsOfAChild) {
  EXPECT_EQ(exit_status(start_child([] {
              constexpr int kThreads = 4;
              std::atomic<int> ready{0};
              std::atomic<uint32_t> seen[kThreads] = {};
              std::vector<std::thread> threads;
              for (std::atomic<uint32_t>& place : seen) {
                threads.emplace_back([&] {
                  for (++ready; ready < kThreads;) std::this_thread::yield();
                  place = fork_generation();
                });
              }
              for (std::thread& thread : threads) thread.join();
              for (const std::atomic<uint32_t>& place : seen) {
                if (place != fork_generation()) return 1;
              }
              return 0;
            })),
            0);
}

// A process may be the first of its namespace, and so may its child be of another.
TEST(ForkGeneration, TellsProcessesOfOneNumberApart) {
  constexpr int kMayNot = 77;
  const int status = exit_status(start_child([] {
    if (unshare(CLONE_NEWPID) != 0) return kMayNot;
    return exit_status(start_child([] {
      const uint32_t first = fork_generation();
      if (getpid() != 1 || unshare(CLONE_NEWPID) != 0) return kMayNot;
      return exit_status(start_child([&] { return getpid() == 1 && fork_generation() != first ? 0 : 1; }));
    }));
  }));
  if (status == kMayNot) GTEST_SKIP() << "this user makes no namespaces";
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace lathe
