// The table of ONNX node types that Lathe imports. A new type is a row of operators.cpp and an import
// function in its family (graph/operators/), or, where it becomes several operators, in graph/onnx/nodes/;
// one that no operator of the graph computes also a struct in its family, which the variant of graph/graph.h
// names.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "graph/onnx/node.h"
#include "graph/onnx/steps.h"

namespace lathe {

// Whose element type a node's results of real numbers have: its first operand of such, as the first result
// alone, or one of their own.
enum class ResultType : uint8_t { of_operands, first, own };

struct OnnxOperator {
  std::string_view type;
  int64_t since;        // the oldest operator set in which the node means what the import takes it for
  size_t least_inputs;  // of the ONNX node; those beyond the operator's operands are read by `import` only
  size_t most_inputs;
  size_t operands;  // how many of the inputs become operands of the graph's nodes, at most: those that the
                    // operator takes
  // An entry for each output that Lathe supports, whether the node has it or not.
  Result<std::vector<ImportedOutput>> (*import)(OnnxNode& node);
  // Of the last of the least inputs, which only `import` reads: it may have no elements. A shape is then that
  // of a single number.
  bool takes_empty_last = false;
  ResultType result = ResultType::of_operands;
};

// All rows of ONNX's own domain, and of ONNX Runtime's, com.microsoft.
std::span<const OnnxOperator> onnx_operators();
std::span<const OnnxOperator> runtime_operators();
// The row of that type in that domain, or null.
const OnnxOperator* find_onnx_operator(std::string_view domain, std::string_view type);

}  // namespace lathe
