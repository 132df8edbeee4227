#include "features/syntax_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "expr/parse.h"
#include "schedule/apply.h"
#include "target/all.h"

namespace lathe {
namespace {

std::vector<SyntaxNode> tree_of(const std::string& trace) {
  const Task task =
      make_task("p", parse_dag("C[i:8, j:8] = sum(k:8) A[k,i] * B[k,j]").value(), generic_target("x86-avx2"))
          .value();
  return syntax_tree(apply_trace(task, parse_trace(trace).value()).value());
}

size_t column(const std::string& name) {
  const std::vector<std::string>& names = syntax_node_names();
  return static_cast<size_t>(std::ranges::find(names, name) - names.begin());
}

size_t count(const std::vector<SyntaxNode>& nodes, const std::string& name) {
  return static_cast<size_t>(
      std::ranges::count_if(nodes, [&](const SyntaxNode& node) { return node.numbers[column(name)] == 1; }));
}

TEST(SyntaxTree, HasLoopsStatementsAccessesAndVariables) {
  const std::vector<SyntaxNode> nodes = tree_of("vectorize C j\n");
  EXPECT_EQ(count(nodes, "loop"), 3U);
  EXPECT_EQ(count(nodes, "statement"), 1U);
  EXPECT_EQ(count(nodes, "written"), 1U);
  EXPECT_EQ(count(nodes, "read"), 2U);
  EXPECT_EQ(count(nodes, "variable"), 6U);
  EXPECT_EQ(count(nodes, "is_vectorized"), 1U);
  for (size_t i = 0; i < nodes.size(); ++i) {
    EXPECT_LT(nodes[i].parent, static_cast<int>(i));
    EXPECT_EQ(nodes[i].numbers.size(), syntax_node_names().size());
    EXPECT_LT(nodes[i].numbers[0], kIdentifiers);
    const bool is_loop = nodes[i].numbers[column("loop")] == 1;
    EXPECT_NEAR(nodes[i].numbers[column("length")], is_loop ? std::log2(9.0) : 0, 1e-6);
  }
  EXPECT_EQ(nodes[0].parent, -1);
}

TEST(SyntaxTree, AVariableBearsTheNumberOfItsLoop) {
  const std::vector<SyntaxNode> nodes = tree_of("");
  const float outermost = nodes[0].numbers[0];
  EXPECT_EQ(
      std::ranges::count_if(nodes, [&](const SyntaxNode& node) { return node.numbers[0] == outermost; }), 3)
      << "the loop i, and its variable in the indices of C and A";
}

TEST(SyntaxTree, ASplitLoopIsTwo) { EXPECT_EQ(count(tree_of("split C i [4]\n"), "loop"), 4U); }

}  // namespace
}  // namespace lathe
