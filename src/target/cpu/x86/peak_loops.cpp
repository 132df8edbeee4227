#include "target/cpu/peak_loops.h"

#include "target/cpu/x86/x86.h"

#ifdef __x86_64__
#include <immintrin.h>

namespace lathe {
namespace {

__attribute__((target("avx2,fma"))) float fma_avx2(int64_t rounds) {
  const __m256 factor = _mm256_set1_ps(kPeakFactor);
  __m256 chains[kPeakChains];
  for (int i = 0; i < kPeakChains; ++i) chains[i] = _mm256_set1_ps(static_cast<float>(i));
  for (int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (int i = 0; i < kPeakChains; ++i) chains[i] = _mm256_fmadd_ps(chains[i], factor, factor);
  }
  float sum = 0;
  for (int i = 0; i < kPeakChains; ++i) sum += chains[i][0];
  return sum;
}

__attribute__((target("avx512f"))) float fma_avx512(int64_t rounds) {
  const __m512 factor = _mm512_set1_ps(kPeakFactor);
  __m512 chains[kPeakChains];
  for (int i = 0; i < kPeakChains; ++i) chains[i] = _mm512_set1_ps(static_cast<float>(i));
  for (int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (int i = 0; i < kPeakChains; ++i) chains[i] = _mm512_fmadd_ps(chains[i], factor, factor);
  }
  float sum = 0;
  for (int i = 0; i < kPeakChains; ++i) sum += chains[i][0];
  return sum;
}

__attribute__((target("avx2"))) float read_avx2(const float* data, int64_t count) {
  __m256i sums[kPeakSums] = {};
  for (int64_t at = 0; at + 8 * kPeakSums <= count; at += 8 * kPeakSums) {
#pragma GCC unroll 8
    for (int i = 0; i < kPeakSums; ++i) {
      const __m256i value = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(data + at + 8 * i));
      sums[i] = _mm256_or_si256(sums[i], value);
    }
  }
  int bits = 0;
  for (int i = 0; i < kPeakSums; ++i) bits |= static_cast<int>(sums[i][0]);
  return static_cast<float>(bits);
}

__attribute__((target("avx512f"))) float read_avx512(const float* data, int64_t count) {
  __m512i sums[kPeakSums] = {};
  for (int64_t at = 0; at + 16 * kPeakSums <= count; at += 16 * kPeakSums) {
#pragma GCC unroll 8
    for (int i = 0; i < kPeakSums; ++i)
      sums[i] = _mm512_or_si512(sums[i], _mm512_loadu_si512(data + at + 16 * i));
  }
  int bits = 0;
  for (int i = 0; i < kPeakSums; ++i) bits |= static_cast<int>(sums[i][0]);
  return static_cast<float>(bits);
}

}  // namespace

const PeakLoops kAvx2PeakLoops = {fma_avx2, read_avx2};
const PeakLoops kAvx512PeakLoops = {fma_avx512, read_avx512};

}  // namespace lathe

#else

namespace lathe {

const PeakLoops kAvx2PeakLoops = {nullptr, nullptr};
const PeakLoops kAvx512PeakLoops = {nullptr, nullptr};

}  // namespace lathe

#endif
