#include "base/rng.h"

#include <bit>
#include <cmath>
#include <numbers>

#include "base/check.h"

namespace lathe {

Rng::Rng(uint64_t seed) {
  for (uint64_t& word : state_) {
    seed += 0x9e3779b97f4a7c15u;
    uint64_t z = seed;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    word = z ^ (z >> 31);
  }
}

uint64_t Rng::next() {
  const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

uint64_t Rng::below(uint64_t bound) {
  LATHE_CHECK(bound > 0);
  const uint64_t limit = bound * (UINT64_MAX / bound);  // rejection keeps it exactly uniform
  uint64_t value = next();
  while (value >= limit) value = next();
  return value % bound;
}

int64_t Rng::between(int64_t lo, int64_t hi) {
  LATHE_CHECK(lo <= hi);
  const uint64_t base = static_cast<uint64_t>(lo);  // unsigned arithmetic wraps where the range is wide
  const uint64_t count = static_cast<uint64_t>(hi) - base + 1;
  return static_cast<int64_t>(base + (count == 0 ? next() : below(count)));
}

double Rng::uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

double Rng::normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

}  // namespace lathe
