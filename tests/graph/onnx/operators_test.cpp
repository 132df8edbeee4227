#include "graph/onnx/operators.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "folders.h"

namespace lathe {
namespace {

TEST(OnnxOperators, AreFoundByTheirTypes) {
  for (const OnnxOperator& row : onnx_operators()) EXPECT_EQ(find_onnx_operator(row.type), &row);
  EXPECT_EQ(find_onnx_operator("Foo"), nullptr);
}

// The page has a row for each operator, in the order of the alphabet, with the set from which it is taken;
// what it says besides is for people to keep.
TEST(OnnxOperators, StandInThePageOnOnnx) {
  std::vector<std::string> expected{"| Constant | 1 |"};  // the import's own
  for (const OnnxOperator& row : onnx_operators())
    expected.push_back(fmt::format("| {} | {} |", row.type, row.since));
  std::ranges::sort(expected);
  std::ifstream page(LATHE_SOURCE_DIR "/docs/onnx.md");
  std::vector<std::string> rows;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("| ") || line.starts_with("| operator |")) continue;
    rows.push_back(line.substr(0, line.find('|', line.find('|', 1) + 1) + 1));
  }
  EXPECT_EQ(rows, expected);
}

}  // namespace
}  // namespace lathe
