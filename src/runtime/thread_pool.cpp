#include "runtime/thread_pool.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <system_error>

namespace lathe {
namespace {

// How many polls go by between two looks at the clock, or before a waiting caller lets others run.
constexpr int kPollsPerRound = 256;
constexpr int kRoundsBeforeYield = 16;

inline void pause_briefly() { __builtin_ia32_pause(); }

extern "C" void lathe_thread_pool_run(const LatheParallel* pool, LatheTask task, void* context,
                                      int64_t count) {
  static_cast<ThreadPool*>(pool->state)->run(task, context, count, pool->threads);
}

}  // namespace

bool pin_this_thread(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<size_t>(cpu), &set);
  return pthread_setaffinity_np(pthread_self(), sizeof set, &set) == 0;
}

ThreadPool::ThreadPool(const Options& options) : spin_(options.spin) {
  const int wanted = std::clamp(options.threads, 1, (1 << kThreadBits) - 1);
  workers_.reserve(static_cast<size_t>(wanted - 1));
  for (int thread = 1; thread < wanted; ++thread) {
    const int cpu =
        options.cpus.empty() ? -1 : options.cpus[static_cast<size_t>(thread) % options.cpus.size()];
    try {
      workers_.emplace_back([this, thread, cpu] {
        if (cpu >= 0) pin_this_thread(cpu);
        work(thread);
      });
    } catch (const std::system_error&) {
      break;  // fewer threads than asked for do the same work
    }
  }
  parallel_ = {.run = lathe_thread_pool_run, .threads = threads(), .state = this};
}

// A call for zero threads tells every thread to end.
ThreadPool::~ThreadPool() {
  call_.store(((call_.load() >> kThreadBits) + 1) << kThreadBits);
  {
    const std::lock_guard lock(mutex_);
    wake_.notify_all();
  }
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::run(LatheTask task, void* context, int64_t count, int limit) {
  const int parts = static_cast<int>(std::min<int64_t>({count, limit, threads()}));
  if (count <= 0) return;
  if (parts <= 1) return task(context, 0, count, 0);
  task_ = task;
  context_ = context;
  count_ = count;
  unfinished_.store(parts - 1, std::memory_order_relaxed);
  // Sequentially consistent on both sides (here and in wait_for_call): either the thread that goes to sleep
  // sees this call, or this caller sees the sleeper.
  const uint64_t number = (call_.load(std::memory_order_relaxed) >> kThreadBits) + 1;
  call_.store(number << kThreadBits | static_cast<uint64_t>(parts));
  if (sleepers_.load() > 0) {
    const std::lock_guard lock(mutex_);
    wake_.notify_all();
  }
  run_part(0, parts);
  wait_until_done();
}

void ThreadPool::run_part(int thread, int parts) const {
  const int64_t whole = count_ / parts;
  const int64_t longer = count_ % parts;  // so many parts have one iteration more
  const int64_t begin = whole * thread + std::min<int64_t>(thread, longer);
  const int64_t end = begin + whole + (thread < longer ? 1 : 0);
  task_(context_, begin, end, thread);
}

void ThreadPool::wait_until_done() const {
  for (int64_t poll = 0; unfinished_.load(std::memory_order_acquire) > 0; ++poll) {
    pause_briefly();
    // With fewer cpus than threads the others need ours to finish.
    if (poll >= kPollsPerRound * kRoundsBeforeYield && poll % kPollsPerRound == 0) sched_yield();
  }
}

void ThreadPool::work(int thread) {
  uint64_t seen = 0;
  while (true) {
    seen = wait_for_call(seen);
    const int parts = static_cast<int>(seen & ((1u << kThreadBits) - 1));
    if (parts == 0) return;
    if (thread >= parts) continue;
    run_part(thread, parts);
    unfinished_.fetch_sub(1, std::memory_order_release);
  }
}

uint64_t ThreadPool::wait_for_call(uint64_t seen) {
  const auto start = std::chrono::steady_clock::now();
  do {
    for (int poll = 0; poll < kPollsPerRound; ++poll) {
      const uint64_t call = call_.load(std::memory_order_acquire);
      if (call != seen) return call;
      pause_briefly();
    }
  } while (std::chrono::steady_clock::now() - start < spin_);
  std::unique_lock lock(mutex_);
  sleepers_.fetch_add(1);
  wake_.wait(lock, [&] { return call_.load() != seen; });
  sleepers_.fetch_sub(1);
  return call_.load();
}

}  // namespace lathe
