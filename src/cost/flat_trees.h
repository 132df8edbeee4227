// Trained trees as plain arrays: what they predict is computed here, many rows at once, and they are kept as
// bytes of our own, whatever library trained them. A value; predicts from several threads at once.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cost/feature_set.h"

namespace lathe {

struct TreeNode {
  int32_t feature = -1;  // that is asked; -1: a leaf
  float value = 0;       // below it the left child is next; of a leaf what it adds
  int32_t left = 0;      // places in the list of all nodes, behind the node's own
  int32_t right = 0;
  bool missing_left = true;  // where the feature is missing (NaN)
};

class FlatTrees {
 public:
  FlatTrees() = default;
  // An Error where a child does not stand behind its parent, or a feature is none of the columns.
  static Result<FlatTrees> make(int64_t columns, std::vector<TreeNode> nodes, std::vector<int32_t> roots);

  int64_t columns() const { return columns_; }
  size_t size() const { return roots_.size(); }
  // One number a candidate: the sum over its rows and all trees. Rows have columns() numbers.
  std::vector<float> predict(const FeatureSet& candidates) const;

  std::string bytes() const;
  // An Error says what is wrong with the bytes, of `source`.
  static Result<FlatTrees> from_bytes(std::string_view bytes, const std::string& source);

 private:
  int64_t columns_ = 0;
  std::vector<TreeNode> nodes_;
  std::vector<int32_t> roots_;
};

}  // namespace lathe
