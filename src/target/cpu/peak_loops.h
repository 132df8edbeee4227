// Loops that show what a processor's units and caches do at most. They are compiled for instructions that the
// rest of Lathe does not assume, and give back a result so that no compiler drops their work.
#pragma once

#include <cstdint>

namespace lathe {

// Chains of dependent FMAs in flight: more than latency x throughput of any core (5 x 2), and with two
// operands within 16 registers.
inline constexpr int kPeakChains = 12;
// Factors of just under one keep every chain away from infinities and subnormal numbers, which could run
// slower.
inline constexpr float kPeakFactor = 0.999f;
// Vectors are read into so many sums, so that loads and not the latency of an addition are the limit.
inline constexpr int kPeakSums = 8;

struct PeakLoops {
  // So many rounds of one fp32 vector FMA in each chain.
  float (*fma)(int64_t rounds);
  // Reads so many floats, but for less than kPeakSums vectors at the end.
  float (*read)(const float* data, int64_t count);
};

}  // namespace lathe
