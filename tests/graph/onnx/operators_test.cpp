#include "graph/onnx/operators.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "folders.h"
#include "graph/onnx/nodes/sequences.h"
#include "graph/onnx/proto.h"

namespace lathe {
namespace {

TEST(OnnxOperators, AreFoundByTheirTypes) {
  for (const OnnxOperator& row : onnx_operators()) {
    for (const char* domain : {"", "ai.onnx"}) EXPECT_EQ(find_onnx_operator(domain, row.type), &row);
  }
  for (const OnnxOperator& row : runtime_operators())
    EXPECT_EQ(find_onnx_operator("com.microsoft", row.type), &row);
  EXPECT_EQ(find_onnx_operator("", "Foo"), nullptr);
  EXPECT_EQ(find_onnx_operator("com.acme", "Relu"), nullptr);
  EXPECT_EQ(find_onnx_operator("com.microsoft", "Relu"), nullptr);
}

// The page has a row for each operator, in the order of the alphabet, with the set from which it is taken;
// what it says besides is for people to keep.
TEST(OnnxOperators, StandInThePageOnOnnx) {
  // The import's own, and what stands for others.
  std::vector<std::string> expected{"| Constant | 1 |", "| If | 1 |", "| Loop | 1 |", "| Scan | 8 |",
                                    "| ai.onnx.preview.FlexAttention | 1 |"};
  for (const char* type : {"ConcatFromSequence", "Optional", "OptionalGetElement", "OptionalHasElement",
                           "SequenceAt", "SequenceConstruct", "SequenceEmpty", "SequenceErase",
                           "SequenceInsert", "SequenceLength", "SequenceMap", "SplitToSequence"}) {
    onnx::NodeProto node;
    node.set_op_type(type);
    expected.push_back(fmt::format("| {} | {} |", type, sequence_operator_since(node).value_or(0)));
  }
  for (const OnnxOperator& row : onnx_operators())
    expected.push_back(fmt::format("| {} | {} |", row.type, row.since));
  for (const OnnxOperator& row : runtime_operators())
    expected.push_back(fmt::format("| com.microsoft.{} | {} |", row.type, row.since));
  std::ranges::sort(expected);
  std::ifstream page(LATHE_SOURCE_DIR "/docs/onnx.md");
  std::vector<std::string> rows;
  for (std::string line; std::getline(page, line) && line != "## Left out";) {
    if (!line.starts_with("| ") || line.starts_with("| operator |")) continue;
    rows.push_back(line.substr(0, line.find('|', line.find('|', 1) + 1) + 1));
  }
  EXPECT_EQ(rows, expected);
}

}  // namespace
}  // namespace lathe
