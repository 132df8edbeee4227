#include "cost/feature_set.h"

#include <algorithm>

#include "base/check.h"

namespace lathe {

const std::vector<std::string>& feature_kind_names() {
  static const std::vector<std::string> names{"summary",   "relation",    "context",  "configuration",
                                              "statement", "syntax-tree", "loop-tree"};
  return names;
}

std::vector<std::string> row_kind_names() {
  std::vector<std::string> names = feature_kind_names();
  std::erase(names, "syntax-tree");
  std::erase(names, "loop-tree");
  return names;
}

std::optional<FeatureKind> parse_feature_kind(std::string_view name) {
  const auto& names = feature_kind_names();
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<FeatureKind>(found - names.begin());
}

FeatureRows FeatureSet::rows_of(int64_t candidate) const {
  const auto first = offsets[static_cast<size_t>(candidate)];
  const auto last = offsets[static_cast<size_t>(candidate) + 1];
  FeatureRows rows{{values.begin() + first * columns, values.begin() + last * columns}, last - first};
  if (!parents.empty()) rows.parents.assign(parents.begin() + first, parents.begin() + last);
  return rows;
}

void FeatureSet::add(const FeatureRows& rows) {
  LATHE_CHECK(rows.count > 0 && std::ssize(rows.numbers) % rows.count == 0);
  const int64_t length = std::ssize(rows.numbers) / rows.count;
  LATHE_CHECK(size() == 0 || length == columns);
  columns = length;
  values.insert(values.end(), rows.numbers.begin(), rows.numbers.end());
  parents.insert(parents.end(), rows.parents.begin(), rows.parents.end());
  offsets.push_back(offsets.back() + rows.count);
}

}  // namespace lathe
