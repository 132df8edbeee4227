#include "measure/peak.h"

#include <immintrin.h>

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
#include "target/detect.h"

namespace lathe {
namespace {

// Chains of dependent FMAs in flight: more than latency x throughput of any core (5 x 2), and with two
// operands within 16 registers.
constexpr int kChains = 12;
constexpr int64_t kFmaRounds = 20000;

// Factors of just under one keep every chain away from infinities and subnormal numbers, which could run
// slower.
constexpr float kFactor = 0.999f;

// The functions below are compiled for instruction sets that the rest of this program does not assume; they
// return their result so that no compiler drops the work.
__attribute__((target("avx2,fma"))) float fma_avx2(int64_t rounds) {
  const __m256 factor = _mm256_set1_ps(kFactor);
  __m256 chains[kChains];
  for (int i = 0; i < kChains; ++i) chains[i] = _mm256_set1_ps(static_cast<float>(i));
  for (int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i) chains[i] = _mm256_fmadd_ps(chains[i], factor, factor);
  }
  float sum = 0;
  for (int i = 0; i < kChains; ++i) sum += chains[i][0];
  return sum;
}

__attribute__((target("avx512f"))) float fma_avx512(int64_t rounds) {
  const __m512 factor = _mm512_set1_ps(kFactor);
  __m512 chains[kChains];
  for (int i = 0; i < kChains; ++i) chains[i] = _mm512_set1_ps(static_cast<float>(i));
  for (int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i) chains[i] = _mm512_fmadd_ps(chains[i], factor, factor);
  }
  float sum = 0;
  for (int i = 0; i < kChains; ++i) sum += chains[i][0];
  return sum;
}

// Reads vectors through eight sums, so that loads and not the latency of an addition are the limit.
constexpr int kSums = 8;

// A core reads at least so much between two meetings of all cores: meeting takes some tenths of a
// microsecond.
constexpr int64_t kBytesPerRound = 8 << 20;

__attribute__((target("avx2"))) float read_avx2(const float* data, int64_t count) {
  __m256i sums[kSums] = {};
  for (int64_t at = 0; at + 8 * kSums <= count; at += 8 * kSums) {
#pragma GCC unroll 8
    for (int i = 0; i < kSums; ++i) {
      const __m256i value = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(data + at + 8 * i));
      sums[i] = _mm256_or_si256(sums[i], value);
    }
  }
  int bits = 0;
  for (int i = 0; i < kSums; ++i) bits |= static_cast<int>(sums[i][0]);
  return static_cast<float>(bits);
}

__attribute__((target("avx512f"))) float read_avx512(const float* data, int64_t count) {
  __m512i sums[kSums] = {};
  for (int64_t at = 0; at + 16 * kSums <= count; at += 16 * kSums) {
#pragma GCC unroll 8
    for (int i = 0; i < kSums; ++i)
      sums[i] = _mm512_or_si512(sums[i], _mm512_loadu_si512(data + at + 16 * i));
  }
  int bits = 0;
  for (int i = 0; i < kSums; ++i) bits |= static_cast<int>(sums[i][0]);
  return static_cast<float>(bits);
}

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

double measure_fma_gflops(const Target& target) {
  const int cores = target.cpu().cores;
  const auto chains = target.name == "x86-avx512" ? fma_avx512 : fma_avx2;
  const double seconds = time_on_cores(cores, [&](int) { return chains(kFmaRounds); });
  const double flops =
      2.0 * target.cpu().lanes(sizeof(float)) * kChains * static_cast<double>(kFmaRounds) * cores;
  return flops / seconds * 1e-9;
}

Result<double> measure_read_gigabytes(const Target& target, int64_t bytes) {
  const int cores = target.cpu().cores;
  const auto read = target.name == "x86-avx512" ? read_avx512 : read_avx2;
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
  constexpr int64_t kLeast = int64_t{256} << 20;
  return std::max(kLeast, 4 * target.cpu().l3.bytes);
}

}  // namespace lathe
