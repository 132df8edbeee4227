#include "graph/onnx_operators.h"

namespace lathe {

namespace {

template <auto import>
Result<GraphOp> as_graph_op(OnnxNode& node) {
  LATHE_TRY(auto op, import(node));
  return GraphOp(std::move(op));
}

constexpr OnnxOperator kOperators[] = {
    {"Add", 7, 2, 2, 2, as_graph_op<import_add>},
    {"BatchNormalization", 7, 5, 5, 5, as_graph_op<import_batch_norm>},
    {"Conv", 1, 2, 3, 3, as_graph_op<import_conv>},
    {"Flatten", 1, 1, 1, 1, as_graph_op<import_flatten>},
    {"Gemm", 7, 2, 3, 3, as_graph_op<import_gemm>},
    {"GlobalAveragePool", 1, 1, 1, 1, as_graph_op<import_global_average_pool>},
    {"Identity", 1, 1, 1, 1, as_graph_op<import_identity>},
    {"MatMul", 1, 2, 2, 2, as_graph_op<import_matmul>},
    {"MaxPool", 1, 1, 1, 1, as_graph_op<import_max_pool>},
    {"Relu", 6, 1, 1, 1, as_graph_op<import_relu>},
    {"Reshape", 5, 2, 2, 1, as_graph_op<import_reshape>},
};

}  // namespace

const OnnxOperator* find_onnx_operator(std::string_view type) {
  for (const OnnxOperator& candidate : kOperators) {
    if (candidate.type == type) return &candidate;
  }
  return nullptr;
}

}  // namespace lathe
