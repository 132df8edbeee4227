// What cost models see of candidates: rows of numbers, one a candidate or several.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lathe {

// Which numbers a model wants. All but `configuration` are of the program and mean the same for every task of
// a kind.
enum class FeatureKind : uint8_t {
  summary,        // of the heaviest blocks of a program (features/features.h)
  relation,       // AutoTVM's curves (features/relation.h)
  context,        // AutoTVM's flattened loop contexts (features/loop_context.h)
  configuration,  // the choices themselves (domain/encoding.h): they mean something within one space alone
  statement,  // Ansor's: a row for every innermost statement, whose costs add up (features/statement_rows.h)
  syntax_tree,  // a row for every loop, statement, access and variable (features/syntax_tree.h)
  loop_tree,    // a row for every loop, its context, with its place in the tree of loops
};

// "summary", "relation" ..., in the order of the kinds.
const std::vector<std::string>& feature_kind_names();
// Those whose rows stand by themselves: all but trees.
std::vector<std::string> row_kind_names();
std::optional<FeatureKind> parse_feature_kind(std::string_view name);

// Of one candidate.
struct FeatureRows {
  std::vector<float> numbers = {};  // row after row
  int64_t count = 1;                // of rows
  // Of trees: the row of each one's parent, which comes before it; -1: a root.
  std::vector<int> parents = {};
};

struct FeatureSet {
  int64_t columns = 0;
  std::vector<float> values = {};      // row after row; NaN: missing
  std::vector<int> parents = {};       // of each row within its candidate, where they are trees (FeatureRows)
  std::vector<int64_t> offsets = {0};  // candidate i has the rows from offsets[i] to before offsets[i + 1]

  int64_t size() const { return static_cast<int64_t>(offsets.size()) - 1; }
  int64_t rows() const { return offsets.back(); }
  FeatureRows rows_of(int64_t candidate) const;
  // One candidate more; all rows are of one length.
  void add(const FeatureRows& rows);
  // One of a single row.
  void add_row(std::vector<float> numbers) { add({.numbers = std::move(numbers)}); }
};

}  // namespace lathe
