#include "cost/flat_trees.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace lathe {
namespace {

constexpr std::string_view kMagic = "lathe trees 1\n";
constexpr uint64_t kMostNodes = uint64_t{1} << 26;
constexpr int64_t kMostColumns = int64_t{1} << 20;
constexpr size_t kNodeBytes = 17;

template <class Number>
void put(std::string& bytes, Number number) {
  char raw[sizeof(Number)];
  std::memcpy(raw, &number, sizeof(Number));
  bytes.append(raw, sizeof(Number));
}

// Takes numbers from the front of bytes that are long enough.
template <class Number>
Number take(std::string_view& bytes) {
  char raw[sizeof(Number)] = {};
  bytes.copy(raw, sizeof(Number));
  bytes.remove_prefix(sizeof(Number));
  Number number;
  std::memcpy(&number, raw, sizeof(Number));
  return number;
}

}  // namespace

Result<FlatTrees> FlatTrees::make(int64_t columns, std::vector<TreeNode> nodes, std::vector<int32_t> roots) {
  const auto count = static_cast<int32_t>(nodes.size());
  const auto broken = [](const char* what) { return fail(ErrorKind::parse, what); };
  for (int32_t i = 0; i < count; ++i) {
    const TreeNode& node = nodes[static_cast<size_t>(i)];
    if (!std::isfinite(node.value)) return broken("a number of a tree is not finite");
    if (node.feature < 0) continue;
    if (node.feature >= columns) return broken("a tree asks for a feature that there is not");
    for (const int32_t child : {node.left, node.right})
      if (child <= i || child >= count) return broken("a child of a tree does not stand behind its parent");
  }
  for (const int32_t root : roots)
    if (root < 0 || root >= count) return broken("a tree begins nowhere");
  FlatTrees trees;
  trees.columns_ = columns;
  trees.nodes_ = std::move(nodes);
  trees.roots_ = std::move(roots);
  return trees;
}

std::vector<float> FlatTrees::predict(const FeatureSet& candidates) const {
  LATHE_CHECK(candidates.size() == 0 || candidates.columns == columns_);
  std::vector<float> sums(static_cast<size_t>(candidates.size()), 0.0F);
  for (size_t i = 0; i < sums.size(); ++i) {
    for (int64_t row = candidates.offsets[i]; row < candidates.offsets[i + 1]; ++row) {
      const float* numbers = candidates.values.data() + row * columns_;
      float of_row = 0;
      for (const int32_t root : roots_) {
        const TreeNode* node = &nodes_[static_cast<size_t>(root)];
        while (node->feature >= 0) {
          const float number = numbers[node->feature];
          const bool goes_left = std::isnan(number) ? node->missing_left : number < node->value;
          node = &nodes_[static_cast<size_t>(goes_left ? node->left : node->right)];
        }
        of_row += node->value;
      }
      sums[i] += of_row;
    }
  }
  return sums;
}

std::string FlatTrees::bytes() const {
  std::string bytes(kMagic);
  put(bytes, columns_);
  put(bytes, static_cast<uint64_t>(nodes_.size()));
  put(bytes, static_cast<uint64_t>(roots_.size()));
  for (const TreeNode& node : nodes_) {
    put(bytes, node.feature);
    put(bytes, node.value);
    put(bytes, node.left);
    put(bytes, node.right);
    put(bytes, static_cast<uint8_t>(node.missing_left));
  }
  for (const int32_t root : roots_) put(bytes, root);
  return bytes;
}

Result<FlatTrees> FlatTrees::from_bytes(std::string_view bytes, const std::string& source) {
  const auto broken = [&](const std::string& what) { return fail(ErrorKind::parse, what, source); };
  if (!bytes.starts_with(kMagic)) return broken("these are no trees of this version");
  bytes.remove_prefix(kMagic.size());
  if (bytes.size() < 3 * sizeof(uint64_t)) return broken("it ends within its header");
  const auto columns = take<int64_t>(bytes);
  const auto nodes = take<uint64_t>(bytes);
  const auto roots = take<uint64_t>(bytes);
  if (columns < 0 || columns > kMostColumns || nodes > kMostNodes || roots > kMostNodes)
    return broken("its header has numbers that no model has");
  const uint64_t wanted = nodes * kNodeBytes + roots * sizeof(int32_t);
  if (bytes.size() != wanted)
    return broken(
        fmt::format("its trees need {} bytes behind the header, and there are {}", wanted, bytes.size()));
  std::vector<TreeNode> list;
  for (uint64_t i = 0; i < nodes; ++i) {
    TreeNode node;
    node.feature = take<int32_t>(bytes);
    node.value = take<float>(bytes);
    node.left = take<int32_t>(bytes);
    node.right = take<int32_t>(bytes);
    node.missing_left = take<uint8_t>(bytes) != 0;
    list.push_back(node);
  }
  std::vector<int32_t> first;
  for (uint64_t i = 0; i < roots; ++i) first.push_back(take<int32_t>(bytes));
  Result<FlatTrees> trees = make(columns, std::move(list), std::move(first));
  if (!trees) return broken(trees.error().message);
  return trees;
}

}  // namespace lathe
