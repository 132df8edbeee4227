#include "measure/peak.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <vector>

#include "measure/pinned_thread.h"
#include "measure/statistics.h"
#include "measure/timing.h"
#include "runtime/buffer.h"
#include "runtime/thread_pool.h"
#include "target/all.h"
#include "target/detect.h"

namespace lathe {
namespace {

constexpr int64_t kFmaRounds = 20000;

// A core reads at least so much between two meetings of all cores: meeting takes some tenths of a
// microsecond.
constexpr int64_t kBytesPerRound = 8 << 20;

// Runs work(core) on every core at once, over and over, and returns the seconds of one round.
double time_on_cores(int cores, const std::function<float(int)>& work) {
  const std::vector<int> cpus = allowed_cpus();
  ThreadPool pool({.threads = cores, .cpus = cpus});
  const PinnedThread pinned(cpus.front());
  struct Context {
    const std::function<float(int)>& work;
    std::vector<float> results;
  } context{work, std::vector<float>(static_cast<size_t>(cores) * 16)};
  const auto round = [&] {
    pool.run(
        [](void* opaque, int64_t begin, int64_t end, int32_t) {
          auto& shared = *static_cast<Context*>(opaque);
          for (int64_t core = begin; core < end; ++core) {
            shared.results[static_cast<size_t>(core) * 16] = shared.work(static_cast<int>(core));
          }
        },
        &context, cores, cores);
  };
  const TimingOptions options = {.min_samples = 20,
                                 .max_samples = 60,
                                 .target_spread = 0.002,
                                 .budget_seconds = 0.1,
                                 .warm_up_seconds = 5e-3};
  const double estimate = warm_up(round, options);
  return robust_centre(take_samples(round, estimate, options));
}

}  // namespace

bool has_peaks(const Target& target) { return row_of(target.name).peaks != nullptr; }

double measure_fma_gflops(const Target& target) {
  const int cores = target.cpu().cores;
  const auto chains = row_of(target.name).peaks->fma;
  const double seconds = time_on_cores(cores, [&](int) { return chains(kFmaRounds); });
  const double flops =
      2.0 * target.cpu().lanes(sizeof(float)) * kPeakChains * static_cast<double>(kFmaRounds) * cores;
  return flops / seconds * 1e-9;
}

Result<double> measure_read_gigabytes(const Target& target, int64_t bytes) {
  const int cores = target.cpu().cores;
  const auto read = row_of(target.name).peaks->read;
  std::vector<GuardedBuffer> buffers;
  for (int core = 0; core < cores; ++core) {
    LATHE_TRY(GuardedBuffer buffer, GuardedBuffer::allocate(bytes));
    buffer.fill_with_nan();  // every page is its own: untouched ones would all be the same page of zeros
    buffers.push_back(std::move(buffer));
  }
  const int64_t count = bytes / static_cast<int64_t>(sizeof(float));
  const int64_t passes = std::max<int64_t>(1, kBytesPerRound / std::max<int64_t>(bytes, 1));
  const double seconds = time_on_cores(cores, [&](int core) {
    float result = 0;
    const auto* data = reinterpret_cast<const float*>(buffers[static_cast<size_t>(core)].data());
    for (int64_t pass = 0; pass < passes; ++pass) result += read(data, count);
    return result;
  });
  return static_cast<double>(bytes * passes) * cores / seconds * 1e-9;
}

int64_t bytes_beyond_caches(const Target& target) {
  constexpr int64_t kLeast = int64_t{128} << 20;
  return std::max(kLeast, 4 * last_cache_bytes(target));
}

}  // namespace lathe
