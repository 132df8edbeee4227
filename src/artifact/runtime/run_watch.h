// What looks on while a model runs. Of most runs nothing does: NoWatch is empty, and what a plain call does
// has no trace of it. A Stopwatch fills in a lathe_run_times.
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>

#include "artifact/runtime/model_tables.h"
#include "lathe/kernel_abi.h"
#include "lathe/model_face.h"

namespace lathe {

// A step is a function that says whether it went well; a launch is given the pool that it is to run on.
struct NoWatch {
  template <class Step>
  bool inputs(Step step) {
    return step();
  }
  template <class Step>
  bool constants(Step step) {
    return step();
  }
  template <class Launch>
  int launch(const LatheLaunch*, const LatheParallel* pool, Launch launch) {
    return launch(pool);
  }
  template <class Step>
  bool outputs(Step step) {
    return step();
  }
};

// Of one run, from when it is made until it is destroyed.
class Stopwatch {
 public:
  // `launches`: all of the model, of which those of a loop may run often, or never.
  Stopwatch(lathe_run_times& times, const LatheLaunch* launches) : times_(times), launches_(launches) {
    for (int i = 0; i < times_.launch_count; ++i) times_.launches[i] = {};
    times_.call.begin = now();
  }
  ~Stopwatch() {
    times_.part_count = part_count_.load();
    times_.call.end = now();
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  template <class Step>
  bool inputs(Step step) {
    return timed(times_.inputs, step);
  }
  template <class Step>
  bool constants(Step step) {
    return timed(times_.constants, step);
  }
  template <class Step>
  bool outputs(Step step) {
    return timed(times_.outputs, step);
  }
  // Of one that runs once more, the time is put behind that of its earlier runs.
  template <class Launch>
  int launch(const LatheLaunch* which, const LatheParallel* pool, Launch launch) {
    launched_ = static_cast<int>(which - launches_);
    inner_ = pool;
    LatheParallel watching = {};
    if (pool != nullptr && times_.part_room > 0) {
      watching = {.run = run_watched, .threads = pool->threads, .state = this};
      pool = &watching;
    }
    lathe_interval& time = times_.launches[launched_];
    const int64_t begin = now();
    const int status = launch(pool);
    const int64_t end = now();
    if (time.begin == 0) time = {begin, begin};
    time.end += end - begin;
    return status;
  }

 private:
  // The C++ library's clock is part of the C++ library.
  static int64_t now() {
    timespec time = {};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return int64_t{1'000'000'000} * time.tv_sec + time.tv_nsec;
  }
  template <class Step>
  static bool timed(lathe_interval& time, Step step) {
    time.begin = now();
    const bool done = step();
    time.end = now();
    return done;
  }

  // A task of a kernel, and who looks on.
  struct Watched {
    LatheTask task;
    void* context;
    Stopwatch* stopwatch;
  };
  static void run_watched(const LatheParallel* pool, LatheTask task, void* context, int64_t count) {
    auto* const self = static_cast<Stopwatch*>(pool->state);
    Watched watched = {task, context, self};
    LatheParallel inner = *self->inner_;
    inner.threads = pool->threads;
    inner.run(&inner, run_part, &watched, count);
  }
  static void run_part(void* context, int64_t begin, int64_t end, int32_t thread) {
    const Watched& watched = *static_cast<const Watched*>(context);
    const int64_t start = now();
    watched.task(watched.context, begin, end, thread);
    watched.stopwatch->add_part(thread, {start, now()});
  }
  // From any of the pool's threads.
  void add_part(int32_t thread, lathe_interval time) {
    const int place = part_count_.fetch_add(1, std::memory_order_relaxed);
    if (place < times_.part_room) times_.parts[place] = {launched_, thread, time};
  }

  lathe_run_times& times_;
  const LatheParallel* inner_ = nullptr;  // of the launch that runs
  const LatheLaunch* launches_;
  int launched_ = 0;
  std::atomic<int> part_count_{0};
};

}  // namespace lathe
