// The thread pool that generated code runs on: threads spin for work before they sleep, so that handing out
// work costs some tenths of a microsecond while calls follow each other closely.
//
// Each thread has a contiguous share of the iterations, the same ones call after call (what it wrote lies in
// its caches), and takes half of what is left of it at a time; a thread whose share is used up takes half of
// what is left of another's. So a core that is slower, or busy with something else, or a thread that still
// sleeps, holds up a call by a single iteration and not by its share.
//
// It needs nothing but the C library, Linux and kernel_abi.h: it is compiled into artifacts as it is. Any
// number of threads may call `run`: one has the threads, and who comes meanwhile does all of its work alone,
// as a caller from within a task does. Different pools are independent, but two spinning pools on the same
// cpus ruin each other. A pool never fails: where the system refuses a thread it has fewer. In a forked child
// it has none.
#pragma once

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>

#include "lathe/kernel_abi.h"

namespace lathe {

// Keeps the calling thread on that cpu; false where the system refuses.
bool pin_this_thread(int cpu);

// Sleeping threads are up within a tenth of a millisecond, or the machine is too busy to wait for.
inline constexpr std::chrono::microseconds kWakingPatience{2000};
// Waits until all of a pool's threads are awake, or for so long; gives how many came.
int wake_all(const LatheParallel& pool, std::chrono::microseconds patience = kWakingPatience);

class ThreadPool {
 public:
  struct Options {
    int threads = 1;  // the caller included
    std::span<const int> cpus =
        {};  // thread i >= 1 stays on cpus[i % size]; empty: wherever the system puts it
    // How long a thread without work spins before it sleeps: waking a sleeper costs 50 us and more, a spinner
    // takes a core from others.
    std::chrono::microseconds spin{500};
  };

  // `cpus` need not outlive the call.
  explicit ThreadPool(const Options& options);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // How many threads take part, the caller included.
  int threads() const { return threads_; }

  // The pool as generated code sees it, valid as long as the pool. A copy with a smaller `threads` uses
  // fewer.
  const LatheParallel* parallel() const { return &parallel_; }

  // Calls task(context, begin, end, thread) on contiguous parts that make up [0, count), by at most `limit`
  // threads numbered from 0, the caller, and returns when all are done. No thread does two parts at a time.
  void run(LatheTask task, void* context, int64_t count, int limit);

  // As long as there are several callers, each counts as one of the pool's threads: together they keep no
  // more cpus busy than one would.
  class Caller {
   public:
    explicit Caller(ThreadPool* pool) : pool_(pool) {
      if (pool_ != nullptr) pool_->callers_.fetch_add(1, std::memory_order_relaxed);
    }
    ~Caller() {
      if (pool_ != nullptr) pool_->callers_.fetch_sub(1, std::memory_order_relaxed);
    }
    Caller(const Caller&) = delete;
    Caller& operator=(const Caller&) = delete;

   private:
    ThreadPool* pool_;
  };

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
  struct Worker {
    ThreadPool* pool = nullptr;
    int thread = 0;
    int cpu = -1;
    pthread_t handle = {};
  };

  bool make_shares(int threads);
  static void* start_worker(void* worker);
  void run_shared(LatheTask task, void* context, int64_t count, int64_t sharing);
  void work(int thread);
  uint32_t wait_for_call(const Share& share, uint32_t seen);
  void run_pieces(uint32_t number, int thread);
  static Pieces take_half(Share& share, uint32_t number, bool from_front);
  void wait_until_done() const;
  void wake_sleepers();

  LatheParallel parallel_;
  std::chrono::microseconds spin_;
  uint32_t generation_;  // that has its threads
  int threads_ = 1;
  int share_count_ = 0;
  uint32_t number_ = 0;        // of the last call
  Share* shares_ = nullptr;    // by thread
  Worker* workers_ = nullptr;  // from thread 1 on

  alignas(64) std::atomic<int> busy_{0};            // 1: a caller has the threads
  std::atomic<int> callers_{0};                     // that say so
  alignas(64) std::atomic<int64_t> unfinished_{0};  // pieces
  alignas(64) std::atomic<int> sleepers_{0};
  std::atomic<bool> ending_{false};
  std::atomic<uint32_t> wakes_{0};  // what sleepers sleep on
};

}  // namespace lathe
