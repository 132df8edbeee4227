#include "runtime/thread_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>
#include <thread>

namespace lathe {
namespace {

struct Part {
  int64_t begin = 0;
  int64_t end = 0;
  int32_t thread = 0;
};

struct Log {
  std::mutex mutex;
  std::vector<Part> parts;
};

// The parts that the pool's threads were given, in order of iterations.
std::vector<Part> parts_of(const LatheParallel& pool, int64_t count) {
  Log log;
  pool.run(
      &pool,
      [](void* context, int64_t begin, int64_t end, int32_t thread) {
        auto& written = *static_cast<Log*>(context);
        const std::lock_guard lock(written.mutex);
        written.parts.push_back({begin, end, thread});
      },
      &log, count);
  std::ranges::sort(log.parts, {}, &Part::begin);
  return log.parts;
}

// The parts make up [0, count), and the threads that ran them are numbered below `threads`.
void expect_partition(const std::vector<Part>& parts, int64_t count, int32_t threads) {
  int64_t next = 0;
  for (const Part& part : parts) {
    EXPECT_EQ(part.begin, next);
    EXPECT_LT(part.begin, part.end);
    EXPECT_GE(part.thread, 0);
    EXPECT_LT(part.thread, threads);
    next = part.end;
  }
  EXPECT_EQ(next, count);
}

TEST(ThreadPool, PartsMakeUpTheIterations) {
  ThreadPool pool({.threads = 3});
  ASSERT_EQ(pool.threads(), 3);
  for (int64_t count : {3, 4, 5, 6, 7, 100, 101, 65535, 65536, 1000003})
    expect_partition(parts_of(*pool.parallel(), count), count, 3);
}

// Thread 1 stays in its first part, which has half of its share, until the other thread has done all the
// rest.
TEST(ThreadPool, TheShareOfAThreadThatIsHeldUpIsDoneByOthers) {
  ThreadPool pool({.threads = 2});
  struct Context {
    std::atomic<int64_t> left{100};
    std::atomic<bool> held{false};
  } context;
  const auto hold_up = [](void* given, int64_t begin, int64_t end, int32_t thread) {
    auto& shared = *static_cast<Context*>(given);
    if (thread == 0) {
      while (!shared.held) std::this_thread::yield();
    } else if (!shared.held.exchange(true)) {
      while (shared.left > end - begin) std::this_thread::yield();
    }
    shared.left -= end - begin;
  };
  pool.run(hold_up, &context, 100, 2);
  EXPECT_EQ(context.left, 0);
}

TEST(ThreadPool, FewerIterationsThanThreadsRunOnFewer) {
  ThreadPool pool({.threads = 4});
  expect_partition(parts_of(*pool.parallel(), 2), 2, 2);
  expect_partition(parts_of(*pool.parallel(), 1), 1, 1);
  EXPECT_TRUE(parts_of(*pool.parallel(), 0).empty());
}

TEST(ThreadPool, ALimitedCopyUsesFewerThreads) {
  ThreadPool pool({.threads = 4});
  LatheParallel limited = *pool.parallel();
  limited.threads = 2;
  expect_partition(parts_of(limited, 100), 100, 2);
  limited.threads = 1;
  expect_partition(parts_of(limited, 100), 100, 1);
}

TEST(ThreadPool, OneThreadRunsInline) {
  ThreadPool pool({.threads = 1});
  EXPECT_EQ(pool.parallel()->threads, 1);
  expect_partition(parts_of(*pool.parallel(), 100), 100, 1);
  std::thread::id runner;
  pool.run([](void* context, int64_t, int64_t,
              int32_t) { *static_cast<std::thread::id*>(context) = std::this_thread::get_id(); },
           &runner, 5, 1);
  EXPECT_EQ(runner, std::this_thread::get_id());
}

// Plain, unsynchronised counters: the pool's own ordering must make each call's writes visible to the next.
struct Counters {
  std::vector<int64_t> values = std::vector<int64_t>(64, 0);
};

void count_up(void* context, int64_t begin, int64_t end, int32_t) {
  for (int64_t i = begin; i < end; ++i) ++static_cast<Counters*>(context)->values[static_cast<size_t>(i)];
}

TEST(ThreadPool, ManyCallsOfChangingWidthLoseNothing) {
  ThreadPool pool({.threads = 3});
  Counters counters;
  int64_t expected = 0;
  for (int call = 0; call < 600; ++call) {
    const int64_t count = 1 + call % 64;
    pool.run(count_up, &counters, count, 1 + call % 3);
    expected += count;
  }
  EXPECT_EQ(std::accumulate(counters.values.begin(), counters.values.end(), int64_t{0}), expected);
}

TEST(ThreadPool, WakesThreadsThatSleep) {
  ThreadPool pool({.threads = 3, .spin = std::chrono::microseconds(0)});
  Counters counters;
  for (int call = 0; call < 200; ++call) {
    if (call % 20 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    pool.run(count_up, &counters, 64, 3);
  }
  for (int64_t value : counters.values) EXPECT_EQ(value, 200);
}

TEST(ThreadPool, AllAreAwakeAfterTheyMet) {
  ThreadPool pool({.threads = 3, .spin = std::chrono::microseconds(0)});
  for (int call = 0; call < 20; ++call) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    EXPECT_EQ(wake_all(*pool.parallel(), std::chrono::seconds(20)), 3);
  }
}

TEST(ThreadPool, EndsWhetherItsThreadsSpinOrSleep) {
  for (int spin : {0, 1000000}) {
    const ThreadPool pool({.threads = 3, .spin = std::chrono::microseconds(spin)});
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST(ThreadPool, RunsPinnedToOneCpu) {
  const int cpu = 0;
  ThreadPool pool({.threads = 2, .cpus = {&cpu, 1}});
  expect_partition(parts_of(*pool.parallel(), 10), 10, 2);
}

}  // namespace
}  // namespace lathe
