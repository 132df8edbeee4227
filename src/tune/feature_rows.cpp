#include "tune/feature_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "domain/encoding.h"
#include "features/features.h"
#include "features/loop_context.h"
#include "features/relation.h"
#include "features/statement_rows.h"
#include "features/syntax_tree.h"

namespace lathe {
namespace {

constexpr size_t kLoops = 32;  // of a program that have numbers in `context`

std::vector<float> contexts(const Program& program) {
  std::vector<float> row;
  const std::vector<LoopContext> loops = loop_contexts(summarise_blocks(program));
  for (size_t i = 0; i < std::min(kLoops, loops.size()); ++i) {
    const std::vector<float> numbers = context_numbers(loops[i]);
    row.insert(row.end(), numbers.begin(), numbers.end());
  }
  row.resize(kLoops * loop_context_names().size(), 0.0F);
  return row;
}

// A program without loops has one row of zeros.
FeatureRows loop_tree(const Program& program) {
  const std::vector<BlockSummary> blocks = summarise_blocks(program);
  FeatureRows rows{.count = 0, .parents = loop_parents(blocks)};
  for (const LoopContext& context : loop_contexts(blocks)) {
    const std::vector<float> numbers = context_numbers(context);
    rows.numbers.insert(rows.numbers.end(), numbers.begin(), numbers.end());
    ++rows.count;
  }
  if (rows.count == 0) rows = {std::vector(loop_context_names().size(), 0.0F), 1, {-1}};
  return rows;
}

// A program without nodes has one row of zeros.
FeatureRows syntax(const Program& program) {
  FeatureRows rows{.count = 0};
  for (const SyntaxNode& node : syntax_tree(program)) {
    rows.numbers.insert(rows.numbers.end(), node.numbers.begin(), node.numbers.end());
    rows.parents.push_back(node.parent);
    ++rows.count;
  }
  if (rows.count == 0) rows = {std::vector(syntax_node_names().size(), 0.0F), 1, {-1}};
  return rows;
}

// A program without statements has one row of zeros.
FeatureRows statements(const Program& program) {
  FeatureRows rows{.count = 0};
  for (const std::vector<float>& row : statement_rows(program)) {
    rows.numbers.insert(rows.numbers.end(), row.begin(), row.end());
    ++rows.count;
  }
  if (rows.count == 0) rows = {std::vector(statement_row_names().size(), 0.0F), 1};
  return rows;
}

}  // namespace

std::vector<std::string> feature_row_names(FeatureKind kind, const std::vector<Sketch>& sketches) {
  switch (kind) {
    case FeatureKind::summary: return feature_names();
    case FeatureKind::relation: return relation_names();
    case FeatureKind::statement: return statement_row_names();
    case FeatureKind::syntax_tree: return syntax_node_names();
    case FeatureKind::loop_tree: return loop_context_names();
    case FeatureKind::context: {
      std::vector<std::string> names;
      for (size_t i = 0; i < kLoops; ++i)
        for (const std::string& name : loop_context_names())
          names.push_back(fmt::format("loop{}.{}", i, name));
      return names;
    }
    case FeatureKind::configuration: {
      std::vector<std::string> names;
      for (const Sketch& sketch : sketches) {
        names.push_back(sketch.name);
        for (const std::string& name : encoding_names(sketch.domain))
          names.push_back(fmt::format("{}.{}", sketch.name, name));
      }
      return names;
    }
  }
  return {};
}

FeatureRows configuration_rows(const std::vector<Sketch>& sketches, const Point& point) {
  std::vector<float> row;
  for (size_t sketch = 0; sketch < sketches.size(); ++sketch) {
    const bool is_own = static_cast<int>(sketch) == point.sketch;
    append_columns(sketches[sketch].domain, is_own ? &point.integers : nullptr, row);
  }
  return {row};
}

FeatureRows program_rows(FeatureKind kind, const Program& program, const Target& target) {
  LATHE_CHECK(kind != FeatureKind::configuration);
  switch (kind) {
    case FeatureKind::relation: return {relation_features(longest_chain(summarise_blocks(program)))};
    case FeatureKind::context: return {contexts(program)};
    case FeatureKind::statement: return statements(program);
    case FeatureKind::syntax_tree: return syntax(program);
    case FeatureKind::loop_tree: return loop_tree(program);
    default: return {extract_features(program, target).flat};
  }
}

}  // namespace lathe
