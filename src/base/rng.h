// Random numbers are passed in, never global: one seed gives one result on every machine.
// xoshiro256** (Blackman and Vigna), seeded through splitmix64. Not thread-safe; give each thread a
// `split()`.
#pragma once

#include <array>
#include <cstdint>

namespace lathe {

class Rng {
 public:
  explicit Rng(uint64_t seed);

  // The next 64 random bits.
  uint64_t next();
  // Uniform in [0, bound); bound > 0.
  uint64_t below(uint64_t bound);
  // Uniform integer in [lo, hi], both included.
  int64_t between(int64_t lo, int64_t hi);
  // Uniform in [0, 1).
  double uniform();
  // Standard normal.
  double normal();
  // True with the given probability.
  bool chance(double probability) { return uniform() < probability; }
  // An independent generator, for another thread or another purpose.
  Rng split() { return Rng(next()); }

 private:
  std::array<uint64_t, 4> state_;
};

}  // namespace lathe
