#include "cost/feature_set.h"

#include <algorithm>

#include "base/check.h"

namespace lathe {

const std::vector<std::string>& feature_kind_names() {
  static const std::vector<std::string> names{"summary", "relation", "context", "configuration"};
  return names;
}

std::optional<FeatureKind> parse_feature_kind(std::string_view name) {
  const auto& names = feature_kind_names();
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<FeatureKind>(found - names.begin());
}

void FeatureSet::add(std::span<const float> numbers, int64_t row_count) {
  LATHE_CHECK(row_count > 0 && std::ssize(numbers) % row_count == 0);
  const int64_t length = std::ssize(numbers) / row_count;
  LATHE_CHECK(size() == 0 || length == columns);
  columns = length;
  values.insert(values.end(), numbers.begin(), numbers.end());
  offsets.push_back(offsets.back() + row_count);
}

}  // namespace lathe
