// The thread pool that generated code runs on: threads spin for work before they sleep, so that handing out
// work costs some tenths of a microsecond while calls follow each other closely.
//
// It needs nothing but the C++ standard library, Linux and kernel_abi.h: it is compiled into artifacts as it
// is. `run` is for one caller at a time and not from within a task; different pools are independent, but two
// spinning pools on the same cpus ruin each other. A pool never fails: where the system refuses a thread it
// has fewer.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "lathe/kernel_abi.h"

namespace lathe {

// Keeps the calling thread on that cpu; false where the system refuses.
bool pin_this_thread(int cpu);

class ThreadPool {
 public:
  struct Options {
    int threads = 1;             // the caller included
    std::vector<int> cpus = {};  // thread i >= 1 stays on cpus[i % size]; empty: wherever the system puts it
    // How long a thread without work spins before it sleeps: waking a sleeper costs 50 us and more, a spinner
    // takes a core from others.
    std::chrono::microseconds spin{500};
  };

  explicit ThreadPool(const Options& options);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // How many threads take part, the caller included.
  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  // The pool as generated code sees it, valid as long as the pool. A copy with a smaller `threads` uses
  // fewer.
  const LatheParallel* parallel() const { return &parallel_; }

  // Calls task(context, begin, end, thread) on at most `limit` contiguous parts of [0, count) that differ by
  // one at most in length, the first on the caller, and returns when all are done.
  void run(LatheTask task, void* context, int64_t count, int limit);

 private:
  // What the threads poll: the number of the call and how many threads take part in it. One word, so that a
  // thread that does not take part never reads the call's other fields, which the caller may be writing for
  // the next one.
  static constexpr int kThreadBits = 16;

  void work(int thread);
  uint64_t wait_for_call(uint64_t seen);
  void run_part(int thread, int parts) const;
  void wait_until_done() const;

  LatheParallel parallel_;
  std::chrono::microseconds spin_;
  std::vector<std::thread> workers_;

  // Three lines that different threads write. A call's number and its fields share one: the threads that poll
  // the number get the fields with it.
  alignas(64) std::atomic<uint64_t> call_{0};
  LatheTask task_ = nullptr;
  void* context_ = nullptr;
  int64_t count_ = 0;
  alignas(64) std::atomic<int> unfinished_{0};
  alignas(64) std::atomic<int> sleepers_{0};
  std::mutex mutex_;
  std::condition_variable wake_;
};

}  // namespace lathe
