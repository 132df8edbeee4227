#include "runtime/thread_pool.h"

#include <sched.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <ctime>
#include <new>

#include "runtime/futex.h"
#include "runtime/pause.h"

namespace lathe {
namespace {

// How many polls go by between two looks at the clock, or before a waiting caller lets others run.
constexpr int kPollsPerRound = 256;
constexpr int kRoundsBeforeYield = 16;

// A share's word has 16 bits for each end of its pieces; where there are more iterations, a piece is several.
constexpr int64_t kMaxPieces = 0xffff;

// The C++ library's clock is part of the C++ library.
std::chrono::nanoseconds now() {
  timespec time = {};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

inline uint64_t pack(uint32_t number, int64_t begin, int64_t end) {
  return uint64_t{number} << 32 | static_cast<uint64_t>(begin) << 16 | static_cast<uint64_t>(end);
}
inline uint32_t number_of(uint64_t left) { return static_cast<uint32_t>(left >> 32); }
inline int64_t begin_of(uint64_t left) { return static_cast<int64_t>(left >> 16 & kMaxPieces); }
inline int64_t end_of(uint64_t left) { return static_cast<int64_t>(left & kMaxPieces); }

// Where part `part` of `parts` contiguous parts of [0, count) begins that differ by one at most in length.
inline int64_t first_of_part(int64_t count, int64_t parts, int64_t part) {
  return count / parts * part + std::min(part, count % parts);
}

void run_on_pool(const LatheParallel* pool, LatheTask task, void* context, int64_t count) {
  static_cast<ThreadPool*>(pool->state)->run(task, context, count, pool->threads);
}

}  // namespace

bool pin_this_thread(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<size_t>(cpu), &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

// Whoever is awake takes one iteration and stays in it until the others have theirs.
int wake_all(const LatheParallel& pool, std::chrono::microseconds patience) {
  struct Arrivals {
    std::chrono::nanoseconds deadline;
    int threads;
    std::atomic<int> here{0};
    std::atomic<int> came{0};  // in time
  } arrivals{.deadline = now() + patience, .threads = pool.threads};
  const LatheTask meet = [](void* context, int64_t begin, int64_t end, int32_t) {
    auto& all = *static_cast<Arrivals*>(context);
    if (now() < all.deadline) all.came += static_cast<int>(end - begin);
    all.here += static_cast<int>(end - begin);
    while (all.here < all.threads && now() < all.deadline) pause_briefly();
  };
  pool.run(&pool, meet, &arrivals, pool.threads);
  return arrivals.came;
}

ThreadPool::ThreadPool(const Options& options) : spin_(options.spin), generation_(fork_generation()) {
  const int asked = static_cast<int>(std::clamp<int64_t>(options.threads, 1, kMaxPieces));
  if (asked > 1 && make_shares(asked)) {
    // Fewer threads than asked for do the same work.
    for (; threads_ < asked; ++threads_) {
      Worker& worker = workers_[threads_];
      const auto thread = static_cast<size_t>(threads_);
      worker = {.pool = this,
                .thread = threads_,
                .cpu = options.cpus.empty() ? -1 : options.cpus[thread % options.cpus.size()]};
      if (pthread_create(&worker.handle, nullptr, start_worker, &worker) != 0) break;
    }
  }
  parallel_ = {.run = run_on_pool, .threads = threads_, .state = this};
}

bool ThreadPool::make_shares(int threads) {
  const auto count = static_cast<size_t>(threads);
  void* memory = nullptr;
  if (posix_memalign(&memory, alignof(Share), count * sizeof(Share)) != 0) return false;
  shares_ = static_cast<Share*>(memory);
  for (size_t i = 0; i < count; ++i) new (&shares_[i]) Share;
  share_count_ = threads;
  workers_ = static_cast<Worker*>(std::calloc(count, sizeof(Worker)));
  return workers_ != nullptr;
}

ThreadPool::~ThreadPool() {
  // A forked child has no threads to end.
  if (generation_ == fork_generation()) {
    ending_.store(true);
    // Each share gets another number than it has: its thread may have slept through any number of calls.
    for (int i = 0; i < share_count_; ++i) {
      std::atomic<uint64_t>& left = shares_[i].left;
      left.store(pack(number_of(left.load()) + 1, 0, 0), std::memory_order_release);
    }
    wake_sleepers();
    for (int i = 1; i < threads_; ++i) pthread_join(workers_[i].handle, nullptr);
  }
  std::free(workers_);
  std::free(shares_);
}

void* ThreadPool::start_worker(void* worker) {
  const Worker& self = *static_cast<const Worker*>(worker);
  if (self.cpu >= 0) pin_this_thread(self.cpu);
  self.pool->work(self.thread);
  return nullptr;
}

void ThreadPool::run(LatheTask task, void* context, int64_t count, int limit) {
  if (count <= 0) return;
  const int others = std::max(callers_.load(std::memory_order_relaxed) - 1, 0);
  const int64_t sharing = std::min<int64_t>({count, limit, threads_ - others});
  if (sharing <= 1 || busy_.exchange(1, std::memory_order_acquire) != 0) return task(context, 0, count, 0);
  run_shared(task, context, count, sharing);
  busy_.store(0, std::memory_order_release);
}

void ThreadPool::run_shared(LatheTask task, void* context, int64_t count, int64_t sharing) {
  const int64_t pieces = std::min(count, kMaxPieces);
  unfinished_.store(pieces, std::memory_order_relaxed);
  ++number_;
  for (int64_t thread = 0; thread < sharing; ++thread) {
    Share& share = shares_[thread];
    share.task = task;
    share.context = context;
    share.count = count;
    share.pieces = pieces;
    share.left.store(
        pack(number_, first_of_part(pieces, sharing, thread), first_of_part(pieces, sharing, thread + 1)),
        std::memory_order_release);
  }
  wake_sleepers();
  run_pieces(number_, 0);
  wait_until_done();
}

// Its own share from the front, then the others' from their ends, the next thread's first. A share of another
// number is that of a thread that takes no part.
void ThreadPool::run_pieces(uint32_t number, int thread) {
  const Share& own = shares_[thread];
  int64_t done = 0;
  for (int i = 0; i < share_count_; ++i) {
    Share& share = shares_[(thread + i) % share_count_];
    while (true) {
      const Pieces taken = take_half(share, number, /*from_front=*/i == 0);
      if (taken.begin == taken.end) break;
      own.task(own.context, first_of_part(own.count, own.pieces, taken.begin),
               first_of_part(own.count, own.pieces, taken.end), thread);
      done += taken.end - taken.begin;
    }
  }
  if (done > 0) unfinished_.fetch_sub(done, std::memory_order_release);
}

ThreadPool::Pieces ThreadPool::take_half(Share& share, uint32_t number, bool from_front) {
  uint64_t left = share.left.load(std::memory_order_acquire);
  while (true) {
    const int64_t begin = begin_of(left);
    const int64_t end = end_of(left);
    if (number_of(left) != number || begin == end) return {};
    const int64_t half = (end - begin + 1) / 2;
    const Pieces taken = from_front ? Pieces{begin, begin + half} : Pieces{end - half, end};
    const uint64_t rest = from_front ? pack(number, taken.end, end) : pack(number, begin, taken.begin);
    if (share.left.compare_exchange_weak(left, rest, std::memory_order_acq_rel, std::memory_order_acquire))
      return taken;
  }
}

void ThreadPool::wait_until_done() const {
  for (int64_t poll = 0; unfinished_.load(std::memory_order_acquire) > 0; ++poll) {
    pause_briefly();
    // With fewer cpus than threads the others need ours to finish.
    if (poll >= kPollsPerRound * kRoundsBeforeYield && poll % kPollsPerRound == 0) sched_yield();
  }
}

// Both sides change `sleepers_` (here by nothing): the later one sees what the other did before. Either this
// caller sees the sleeper, or the thread that goes to sleep sees the call.
void ThreadPool::wake_sleepers() {
  if (sleepers_.fetch_add(0) == 0) return;
  wakes_.fetch_add(1);
  futex_wake(wakes_, INT_MAX);
}

void ThreadPool::work(int thread) {
  uint32_t seen = 0;
  while (true) {
    seen = wait_for_call(shares_[thread], seen);
    if (ending_.load()) return;
    run_pieces(seen, thread);
  }
}

uint32_t ThreadPool::wait_for_call(const Share& share, uint32_t seen) {
  const auto called = [&] { return number_of(share.left.load(std::memory_order_acquire)) != seen; };
  const std::chrono::nanoseconds start = now();
  do {
    for (int poll = 0; poll < kPollsPerRound; ++poll) {
      if (called()) return number_of(share.left.load(std::memory_order_acquire));
      pause_briefly();
    }
  } while (now() - start < spin_);
  sleepers_.fetch_add(1);
  while (true) {
    const uint32_t wakes = wakes_.load();
    if (called()) break;
    futex_wait(wakes_, wakes);
  }
  sleepers_.fetch_sub(1);
  return number_of(share.left.load(std::memory_order_acquire));
}

}  // namespace lathe
