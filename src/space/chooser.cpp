#include "space/chooser.h"

#include "base/check.h"

namespace lathe {

int64_t Chooser::next_integer(int64_t count) {
  LATHE_CHECK(position_ < integers_->size());
  const int64_t index = (*integers_)[position_++];
  LATHE_CHECK(index >= 0 && index < count);
  return index;
}

int64_t Chooser::choose(std::string name, std::vector<int64_t> values, int64_t preferred) {
  LATHE_CHECK(!values.empty());
  const auto count = static_cast<int64_t>(values.size());
  if (integers_ != nullptr) return values[static_cast<size_t>(next_integer(count))];
  int64_t index = 0;
  while (index + 1 < count && values[static_cast<size_t>(index + 1)] <= preferred) ++index;
  const int64_t value = values[static_cast<size_t>(index)];
  domain_.parameters.push_back({std::move(name), OrderedParameter{std::move(values)}});
  preferred_.push_back(index);
  return value;
}

int64_t Chooser::choose_kind(std::string name, int64_t count, int64_t preferred) {
  if (integers_ != nullptr) return next_integer(count);
  domain_.parameters.push_back({std::move(name), CategoricalParameter{count}});
  preferred_.push_back(preferred);
  return preferred;
}

}  // namespace lathe
