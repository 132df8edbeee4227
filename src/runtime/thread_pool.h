// The thread pool that generated code runs on: threads spin for work before they sleep, so that handing out
// work costs some tenths of a microsecond while calls follow each other closely.
//
// Each thread has a contiguous share of the iterations, the same ones call after call (what it wrote lies in
// its caches), and takes half of what is left of it at a time; a thread whose share is used up takes half of
// what is left of another's. So a core that is slower, or busy with something else, or a thread that still
// sleeps, holds up a call by a single iteration and not by its share.
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

// Waits until all of a pool's threads are awake, or for so long; gives how many came.
int wake_all(const LatheParallel& pool, std::chrono::microseconds patience);

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

  // Calls task(context, begin, end, thread) on contiguous parts that make up [0, count), by at most `limit`
  // threads numbered from 0, the caller, and returns when all are done. No thread does two parts at a time.
  void run(LatheTask task, void* context, int64_t count, int limit);

 private:
  // What a thread polls, takes from and reads of a call, a line of its own. `left` has the call's number,
  // which grows with each call that the thread takes part in, and the pieces of its share that nobody took
  // yet, from the first one to the end. A call does not wait for a thread that is late: with the number such
  // a thread takes nothing of another call. Only who took a piece may read the other fields, for the call
  // waits for it.
  struct alignas(64) Share {
    std::atomic<uint64_t> left{0};
    LatheTask task = nullptr;
    void* context = nullptr;
    int64_t count = 0;
    int64_t pieces = 0;  // into which [0, count) is divided
  };
  struct Pieces {
    int64_t begin = 0;
    int64_t end = 0;
  };

  void work(size_t thread);
  uint32_t wait_for_call(const Share& share, uint32_t seen);
  void run_pieces(uint32_t number, size_t thread);
  static Pieces take_half(Share& share, uint32_t number, bool from_front);
  void wait_until_done() const;
  void wake_sleepers();

  LatheParallel parallel_;
  std::chrono::microseconds spin_;
  uint32_t number_ = 0;        // of the last call
  std::vector<Share> shares_;  // by thread
  std::vector<std::thread> workers_;

  alignas(64) std::atomic<int64_t> unfinished_{0};  // pieces
  alignas(64) std::atomic<int> sleepers_{0};
  std::atomic<bool> ending_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
};

}  // namespace lathe
