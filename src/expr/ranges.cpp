// What is known of variables, and of sums of them.
#include <algorithm>

#include "expr/affine.h"

namespace lathe {

void Ranges::set(const Var& var, Interval range) {
  const auto known = std::ranges::find(entries_, var, &std::pair<Var, Interval>::first);
  if (known == entries_.end()) {
    entries_.emplace_back(var, range);
  } else {
    known->second = range;
  }
}

void Ranges::forget(const Var& var) {
  std::erase_if(entries_, [&](const auto& entry) { return entry.first == var; });
}

const Interval* Ranges::find(const AtomNode* var) const {
  for (const auto& [known, interval] : entries_) {
    if (known.atom().get() == var) return &interval;
  }
  return nullptr;
}

void Ranges::set_limit(const Affine& sum, int64_t limit) {
  limits_.push_back({sum - sum.constant(), limit - sum.constant()});
}

int64_t Ranges::limit_of(const Affine& sum) const {
  int64_t limit = INT64_MAX;
  for (const Limit& known : limits_) {
    if (known.terms.terms().size() != sum.terms().size()) continue;
    if (known.terms == sum - sum.constant()) limit = std::min(limit, known.limit + sum.constant());
  }
  return limit;
}

}  // namespace lathe
