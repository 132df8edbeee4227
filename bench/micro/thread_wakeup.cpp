// What it costs to hand work to the thread pool: empty, 5 us and 22 us kernels, split among the cores, called
// back to back and after pauses. Prints a table in microseconds; no assertion.
//
//   thread_wakeup [CALLS]     (default 20000 back to back, fewer after pauses)
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <vector>

#include "measure/timing.h"
#include "runtime/thread_pool.h"
#include "target/detect.h"

namespace {

using namespace lathe;

// Work that keeps one core busy for a number of steps and touches no memory.
void spin_steps(void* context, int64_t begin, int64_t end, int32_t) {
  uint64_t state = static_cast<uint64_t>(begin);
  for (int64_t i = begin; i < end; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    asm volatile("" : "+r"(state));  // one dependent step after the other
  }
  if (context != nullptr) *static_cast<uint64_t*>(context) = state;
}

// So many steps take one microsecond on this machine.
double steps_per_microsecond() {
  constexpr int64_t kSteps = 1'000'000;
  const double seconds = warm_up([] { spin_steps(nullptr, 0, kSteps, 0); }, {.warm_up_seconds = 0.05});
  return static_cast<double>(kSteps) / (seconds * 1e6);
}

void wait_until(double moment) {
  while (monotonic_seconds() < moment) continue;
}

struct Quantiles {
  double median = 0;
  double p99 = 0;
};

// Microseconds of one call, with a pause before each in which the caller keeps its core.
Quantiles time_calls(ThreadPool& pool, int64_t steps, double pause_seconds, int calls) {
  std::vector<double> microseconds;
  for (int call = 0; call < calls; ++call) {
    if (pause_seconds > 0) wait_until(monotonic_seconds() + pause_seconds);
    const double start = monotonic_seconds();
    pool.run(spin_steps, nullptr, std::max<int64_t>(steps, pool.threads()), pool.threads());
    microseconds.push_back((monotonic_seconds() - start) * 1e6);
  }
  std::sort(microseconds.begin(), microseconds.end());
  return {microseconds[microseconds.size() / 2], microseconds[microseconds.size() * 99 / 100]};
}

struct Pause {
  const char* name;
  double seconds;
  int fewer_calls;  // divides their number
};

constexpr std::array<Pause, 3> kPauses = {
    {{"none", 0, 1}, {"100 us", 100e-6, 4}, {"5 ms (asleep)", 5e-3, 100}}};
constexpr std::array<double, 3> kKernels = {0, 5.5, 22};

void print_pool(const char* name, ThreadPool& pool, double steps, int calls) {
  for (double kernel : kKernels) {
    for (const Pause& pause : kPauses) {
      const Quantiles result = time_calls(pool, static_cast<int64_t>(kernel * steps), pause.seconds,
                                          std::max(1, calls / pause.fewer_calls));
      std::printf("%-10s %6d %10.1f   %-14s %9.2f %9.2f\n", name, pool.threads(), kernel, pause.name,
                  result.median, result.p99);
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  int calls = 20000;
  if (count == 2) {
    const char* end = arguments[1] + std::strlen(arguments[1]);
    if (std::from_chars(arguments[1], end, calls).ptr != end || calls < 1) {
      std::fputs("usage: thread_wakeup [CALLS]\n", stderr);
      return 1;
    }
  }
  const std::vector<int> cpus = allowed_cpus();
  pin_this_thread(cpus.front());
  const double steps = steps_per_microsecond();
  std::printf("%-10s %6s %10s   %-14s %9s %9s\n", "pool", "cores", "kernel us", "pause before", "median us",
              "p99 us");
  {
    ThreadPool alone({.threads = 1});
    print_pool("inline", alone, steps, calls);
  }
  ThreadPool spinning({.threads = static_cast<int>(cpus.size()), .cpus = cpus});
  print_pool("spin", spinning, steps, calls);
  return 0;
}
