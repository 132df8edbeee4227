#include "target/cpu/peak_loops.h"

#include "target/cpu/aarch64/aarch64.h"

#ifdef __aarch64__
#include <arm_neon.h>

namespace lathe {
namespace {

float fma_neon(int64_t rounds) {
  const float32x4_t factor = vdupq_n_f32(kPeakFactor);
  float32x4_t chains[kPeakChains];
  for (int i = 0; i < kPeakChains; ++i) chains[i] = vdupq_n_f32(static_cast<float>(i));
  for (int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (int i = 0; i < kPeakChains; ++i) chains[i] = vfmaq_f32(factor, chains[i], factor);
  }
  float sum = 0;
  for (int i = 0; i < kPeakChains; ++i) sum += vgetq_lane_f32(chains[i], 0);
  return sum;
}

float read_neon(const float* data, int64_t count) {
  uint32x4_t sums[kPeakSums] = {};
  for (int64_t at = 0; at + 4 * kPeakSums <= count; at += 4 * kPeakSums) {
#pragma GCC unroll 8
    for (int i = 0; i < kPeakSums; ++i) {
      const uint32x4_t value = vreinterpretq_u32_f32(vld1q_f32(data + at + 4 * i));
      sums[i] = vorrq_u32(sums[i], value);
    }
  }
  uint32_t bits = 0;
  for (int i = 0; i < kPeakSums; ++i) bits |= vgetq_lane_u32(sums[i], 0);
  return static_cast<float>(bits);
}

}  // namespace

const PeakLoops kNeonPeakLoops = {fma_neon, read_neon};

}  // namespace lathe

#else

namespace lathe {

const PeakLoops kNeonPeakLoops = {nullptr, nullptr};

}  // namespace lathe

#endif
