#include "domain/domain_split.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/check.h"

namespace lathe {
namespace {

constexpr int64_t kMostSplits = std::numeric_limits<int64_t>::max();

int64_t add_saturated(int64_t a, int64_t b) { return a > kMostSplits - b ? kMostSplits : a + b; }
int64_t ceil_div(int64_t a, int64_t b) { return (a - 1) / b + 1; }

std::vector<int64_t> divisors(int64_t n) {
  std::vector<int64_t> low, high;
  for (int64_t d = 1; d <= n / d; ++d) {
    if (n % d != 0) continue;
    low.push_back(d);
    if (d != n / d) high.push_back(n / d);
  }
  low.insert(low.end(), high.rbegin(), high.rend());
  return low;
}

struct PrimePower {
  int64_t prime;
  int exponent;
};

std::vector<PrimePower> factorise(int64_t n) {
  std::vector<PrimePower> powers;
  for (int64_t p = 2; p <= n / p; ++p) {
    if (n % p != 0) continue;
    powers.push_back({p, 0});
    for (; n % p == 0; n /= p) ++powers.back().exponent;
  }
  if (n > 1) powers.push_back({n, 1});
  return powers;
}

// What the factor at `slot` may be, given what the factors inside it leave of the extent.
int64_t largest_factor(const SplitParameter& split, size_t slot, int64_t left) {
  const bool innermost = slot + 2 == static_cast<size_t>(split.parts);
  return innermost ? std::min(left, split.largest_innermost) : left;
}

std::vector<int64_t> legal_factors(const SplitParameter& split, size_t slot, int64_t left) {
  const int64_t largest = largest_factor(split, slot, left);
  std::vector<int64_t> factors;
  if (!split.allowed.empty()) {
    for (const int64_t f : split.allowed)
      if (f <= largest && (split.imperfect || left % f == 0)) factors.push_back(f);
  } else if (split.imperfect) {
    for (int64_t f = 1; f <= largest; ++f) factors.push_back(f);
  } else {
    for (int64_t f : divisors(left)) {
      if (f <= largest) factors.push_back(f);
    }
  }
  return factors;
}

// Counts the values of slots 0 .. slot where `left` of the extent remains; many factors leave the same rest.
class SplitCounter {
 public:
  explicit SplitCounter(const SplitParameter& split) : split_(split) {}

  int64_t count(int slot, int64_t left) {
    if (slot < 0) return 1;
    const auto key = std::pair(slot, left);
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    const bool by_ranges = split_.imperfect && split_.allowed.empty();
    const int64_t total = by_ranges ? count_imperfect(slot, left) : count_one_by_one(slot, left);
    known_[key] = total;
    return total;
  }

 private:
  int64_t count_one_by_one(int slot, int64_t left) {
    int64_t total = 0;
    for (int64_t f : legal_factors(split_, slot, left))
      total = add_saturated(total, count(slot - 1, ceil_div(left, f)));
    return total;
  }

  int64_t count_imperfect(int slot, int64_t left) {
    const int64_t largest = largest_factor(split_, slot, left);
    int64_t total = 0;
    for (int64_t f = 1; f <= largest;) {
      const int64_t rest = ceil_div(left, f);
      // The last factor that leaves the same rest.
      const int64_t last = rest == 1 ? largest : std::min(largest, (left - 1) / (rest - 1));
      const int64_t each = count(slot - 1, rest);
      const int64_t times = last - f + 1;
      total = each > kMostSplits / times ? kMostSplits : add_saturated(total, each * times);
      f = last + 1;
    }
    return total;
  }

  const SplitParameter& split_;
  std::map<std::pair<int, int64_t>, int64_t> known_;
};

// Uniform over all ordered factorisations into `parts` factors: each prime's copies are dealt as stars
// between bars.
std::vector<int64_t> sample_factorisation(const std::vector<PrimePower>& powers, int parts, Rng& rng) {
  std::vector<int64_t> result(parts, 1);
  for (const auto& [prime, exponent] : powers) {
    auto stars = static_cast<uint64_t>(exponent);
    auto bars = static_cast<uint64_t>(parts) - 1;
    int part = 0;
    while (stars > 0) {
      if (rng.below(stars + bars) < stars) {
        result[part] *= prime;
        --stars;
      } else {
        ++part;
        --bars;
      }
    }
  }
  return result;
}

Factors sample_perfect(const SplitParameter& split, Rng& rng) {
  const std::vector<PrimePower> powers = factorise(split.extent);
  // Rejection keeps the rest uniform; the innermost part is 1 often enough for it to end soon.
  for (;;) {
    std::vector<int64_t> all = sample_factorisation(powers, split.parts, rng);
    if (all.back() <= split.largest_innermost) return Factors(all.begin() + 1, all.end());
  }
}

Factors sample_imperfect(const SplitParameter& split, Rng& rng) {
  Factors factors(split.parts - 1);
  int64_t left = split.extent;
  for (size_t slot = factors.size(); slot-- > 0;) {
    const int64_t largest = largest_factor(split, slot, left);
    const double scale = std::log(static_cast<double>(largest) + 1.0);
    int64_t factor = static_cast<int64_t>(std::exp(rng.uniform() * scale));
    factor = std::clamp<int64_t>(factor, 1, largest);
    if (rng.chance(0.5)) factor = ceil_div(left, ceil_div(left, factor));
    factors[slot] = factor;
    left = ceil_div(left, factor);
  }
  return factors;
}

// Uniform over the values: each factor, the innermost first, as often as values go on from it.
Factors sample_allowed(const SplitParameter& split, Rng& rng) {
  SplitCounter counter(split);
  Factors factors(split.parts - 1);
  int64_t left = split.extent;
  for (size_t slot = factors.size(); slot-- > 0;) {
    const int below = static_cast<int>(slot) - 1;
    auto drawn = static_cast<int64_t>(rng.below(static_cast<uint64_t>(counter.count(below + 1, left))));
    for (const int64_t factor : legal_factors(split, slot, left)) {
      factors[slot] = factor;
      drawn -= counter.count(below, ceil_div(left, factor));
      if (drawn < 0) break;
    }
    left = ceil_div(left, factors[slot]);
  }
  return factors;
}

void list_splits(const SplitParameter& split, int slot, int64_t left, Factors& factors,
                 std::vector<Factors>& all) {
  if (slot < 0) {
    all.push_back(factors);
    return;
  }
  for (int64_t f : legal_factors(split, slot, left)) {
    factors[slot] = f;
    list_splits(split, slot - 1, ceil_div(left, f), factors, all);
  }
}

int64_t least_divisor_above(int64_t n, int64_t least) {
  for (int64_t d = least + 1; d < n; ++d) {
    if (n % d == 0) return d;
    if (d >= n / d) {  // beyond the root the cofactors are the shorter list
      for (int64_t cofactor = n / (d + 1); cofactor > 1; --cofactor) {
        if (n % cofactor == 0) return n / cofactor;
      }
      return n;
    }
  }
  return n;
}

// Part `raised` of (outer, factors...) goes up to the next divisor of its product with part `lowered`.
std::optional<Factors> divisor_moved(const SplitParameter& split, const Factors& factors, int raised,
                                     int lowered) {
  int64_t outer = split.extent;
  for (const int64_t factor : factors) outer = ceil_div(outer, factor);
  const auto part = [&](int i) { return i == 0 ? outer : factors[static_cast<size_t>(i) - 1]; };
  if (part(lowered) == 1) return std::nullopt;
  const int64_t product = part(raised) * part(lowered);
  Factors next = factors;
  int64_t larger = part(raised);
  do {
    larger = least_divisor_above(product, larger);
    if (raised > 0) next[static_cast<size_t>(raised) - 1] = larger;
    if (lowered > 0) next[static_cast<size_t>(lowered) - 1] = product / larger;
    // Of listed factors the next that is one of them.
  } while (!split.allowed.empty() && larger < product && split_fault(split, next));
  return next;
}

// The factor of one inner part alone changes; the outer part follows.
Factors resized(const SplitParameter& split, const Factors& factors, size_t slot, bool up, Stride stride) {
  const int64_t factor = factors[slot];
  Factors next = factors;
  if (!split.allowed.empty()) {
    const auto place = std::ranges::find(split.allowed, factor);
    const bool is_last = up ? place + 1 == split.allowed.end() : place == split.allowed.begin();
    if (stride == Stride::one && !is_last) next[slot] = up ? *(place + 1) : *(place - 1);
    return next;
  }
  if (stride == Stride::one) next[slot] = up ? factor + 1 : factor - 1;
  if (stride == Stride::twice) next[slot] = up ? factor * 2 : factor / 2;
  if (stride != Stride::tile) return next;
  int64_t left = split.extent;
  for (size_t inner = slot + 1; inner < factors.size(); ++inner) left = ceil_div(left, factors[inner]);
  const int64_t tiles = ceil_div(left, factor);
  if (!up) next[slot] = ceil_div(left, tiles + 1);
  if (up && tiles > 1) next[slot] = ceil_div(left, tiles - 1);
  return next;
}

}  // namespace

int64_t count_splits(const SplitParameter& split) {
  return SplitCounter(split).count(split.parts - 2, split.extent);
}

bool has_choice(const SplitParameter& split) {
  if (split.parts < 2 || split.extent < 2) return false;
  if (!split.allowed.empty()) return count_splits(split) > 1;
  if (split.parts > 2) return true;
  if (split.imperfect) return split.largest_innermost > 1;
  return factorise(split.extent).front().prime <= split.largest_innermost;
}

Factors sample_split(const SplitParameter& split, Rng& rng) {
  if (split.parts < 2) return {};
  if (!split.allowed.empty()) return sample_allowed(split, rng);
  return split.imperfect ? sample_imperfect(split, rng) : sample_perfect(split, rng);
}

std::optional<Factors> step_of_split(const SplitParameter& split, const Factors& factors, int raised,
                                     int lowered, Stride stride) {
  std::optional<Factors> next;
  if (stride == Stride::divisor) {
    next = divisor_moved(split, factors, raised, lowered);
  } else {
    const bool up = lowered == 0;
    next = resized(split, factors, static_cast<size_t>(up ? raised : lowered) - 1, up, stride);
  }
  return !next || *next == factors || split_fault(split, *next) ? std::nullopt : next;
}

std::optional<Factors> divisor_given(const SplitParameter& split, const Factors& factors, Rng& rng) {
  if (split.parts < 2) return std::nullopt;
  std::vector<int64_t> parts{split.extent};
  for (const int64_t factor : factors) parts.front() = ceil_div(parts.front(), factor);
  parts.insert(parts.end(), factors.begin(), factors.end());
  const size_t from = rng.below(parts.size());
  const size_t to = (from + 1 + rng.below(parts.size() - 1)) % parts.size();
  const std::vector<int64_t> given = divisors(parts[from]);
  if (given.size() < 2) return std::nullopt;
  const int64_t divisor = given[1 + rng.below(given.size() - 1)];
  parts[from] /= divisor;
  parts[to] *= divisor;
  Factors next(parts.begin() + 1, parts.end());
  return next == factors || split_fault(split, next) ? std::nullopt : std::optional(next);
}

double ratio_of(int64_t a, int64_t b) {
  const auto [less, more] = std::minmax(a, b);
  return (static_cast<double>(more) + 1) / (static_cast<double>(less) + 1);
}

Factors nearest_split(const SplitParameter& split, const Factors& wanted) {
  Factors factors(wanted.size());
  int64_t left = split.extent;
  for (size_t slot = factors.size(); slot-- > 0;) {
    const auto aim = std::max<int64_t>(wanted[slot], 1);
    if (split.imperfect && split.allowed.empty()) {
      factors[slot] = std::min(aim, largest_factor(split, slot, left));
    } else {
      factors[slot] = std::ranges::min(legal_factors(split, slot, left), {},
                                       [aim](int64_t factor) { return ratio_of(factor, aim); });
    }
    left = ceil_div(left, factors[slot]);
  }
  return factors;
}

std::vector<Factors> all_splits(const SplitParameter& split) {
  std::vector<Factors> all;
  Factors factors(std::max(split.parts - 1, 0));
  list_splits(split, split.parts - 2, split.extent, factors, all);
  return all;
}

std::optional<std::string> split_fault(const SplitParameter& split, const Factors& factors) {
  int64_t left = split.extent;
  for (size_t slot = factors.size(); slot-- > 0;) {
    const int64_t largest = largest_factor(split, slot, left);
    if (factors[slot] < 1 || factors[slot] > largest) {
      return fmt::format("factor {} of a split of {} must be in 1..{} and is {}", slot, split.extent, largest,
                         factors[slot]);
    }
    if (!split.imperfect && left % factors[slot] != 0) {
      return fmt::format("factor {} of a split of {} must divide {} and is {}", slot, split.extent, left,
                         factors[slot]);
    }
    if (!split.allowed.empty() && std::ranges::find(split.allowed, factors[slot]) == split.allowed.end())
      return fmt::format("factor {} of a split of {} must be one of {} and is {}", slot, split.extent,
                         fmt::join(split.allowed, ", "), factors[slot]);
    left = ceil_div(left, factors[slot]);
  }
  return std::nullopt;
}

}  // namespace lathe
