#include "artifact/runtime/size_choices.h"

#include <algorithm>

namespace lathe {
namespace {

// Sequences of more places than this begin with the largest size until so many are left.
constexpr int64_t kMostWeighed = 4096;

}  // namespace

bool SizeChoices::create(const LathePlans& plans, const LatheModelTables& largest, int dimension) {
  served_by_ = plans.served_by[dimension];
  return find_sizes(plans, largest, dimension) && (served_by_ != LATHE_BY_PARTS || weigh());
}

// The seconds are those where all other dimensions have their largest sizes.
bool SizeChoices::find_sizes(const LathePlans& plans, const LatheModelTables& largest, int dimension) {
  if (!sizes_.create(plans.plan_count)) return false;
  const lathe_free_sizes& free = *largest.info.free_sizes;
  for (int32_t i = 0; i < plans.plan_count; ++i) {
    const LathePlan& plan = plans.plans[i];
    bool is_slice = true;
    for (int d = 0; d < free.dimension_count; ++d)
      is_slice = is_slice && (d == dimension || plan.sizes[d] == free.dimensions[d].most);
    if (is_slice) sizes_[size_count_++] = {plan.sizes[dimension], plan.seconds};
  }
  std::sort(sizes_.begin(), sizes_.begin() + size_count_,
            [](const Size& one, const Size& other) { return one.size < other.size; });
  return true;
}

bool SizeChoices::weigh() {
  const int64_t most = std::min(sizes_[size_count_ - 1].size, kMostWeighed);
  ModelArray<double> seconds;  // of the cheapest sequence for so many places
  if (!first_.create(most + 1) || !seconds.create(most + 1)) return false;
  for (int64_t rest = 1; rest <= most; ++rest) {
    for (int64_t k = 0; k < size_count_; ++k) {
      const Size& size = sizes_[k];
      const double all = size.seconds + (rest > size.size ? seconds[rest - size.size] : 0);
      // One that has kernels of its own takes these.
      if (first_[rest] != 0 && all >= seconds[rest] && size.size != rest) continue;
      if (first_[rest] == rest) continue;
      seconds[rest] = all;
      first_[rest] = static_cast<int32_t>(size.size);
    }
  }
  return true;
}

int64_t SizeChoices::planned_for(int64_t rest) const {
  if (served_by_ == LATHE_BY_PARTS) return rest < first_.size() ? first_[rest] : sizes_[size_count_ - 1].size;
  for (int64_t k = 0; k < size_count_; ++k)
    if (sizes_[k].size >= rest) return sizes_[k].size;
  return sizes_[size_count_ - 1].size;
}

// A run that is larger than what is left computes some places a second time, where there are so many, which
// gives the same; else some for nothing.
SizedPart SizeChoices::next(int64_t size, int64_t begin) const {
  const int64_t rest = size - begin;
  const int64_t planned = planned_for(rest);
  if (planned <= rest) return {size, begin, planned, planned};
  if (served_by_ == LATHE_BY_PARTS && planned <= size) return {size, size - planned, planned, planned};
  return {size, begin, rest, planned};
}

}  // namespace lathe
