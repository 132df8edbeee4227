// The tree of a scheduled program as AutoTVM's TreeGRU takes it (section 3.1 and figure 3d): loops,
// statements, accesses to buffers, and the loop variables in their indices as leaves, each with the
// identifier that it names. Identifiers mean something within one task alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "loop/loop.h"

namespace lathe {

// Identifiers are numbered by their names; two names in so many rarely have the same number.
constexpr size_t kIdentifiers = 1024;

struct SyntaxNode {
  int parent = -1;  // comes before it; -1: a root
  std::vector<float> numbers;
};

// The names of a node's numbers: what it is, its identifier's number, and of a loop its length as log2(1 + x)
// and its kind. The identifier comes first.
const std::vector<std::string>& syntax_node_names();

// The nodes of a program's main part, parents before children.
std::vector<SyntaxNode> syntax_tree(const Program& program);

}  // namespace lathe
