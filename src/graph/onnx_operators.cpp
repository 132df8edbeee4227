#include "graph/onnx_operators.h"

namespace lathe {

namespace {

template <auto import>
Result<GraphOp> as_graph_op(OnnxNode& node) {
  LATHE_TRY(auto op, import(node));
  return GraphOp(std::move(op));
}

template <MapFunction function>
constexpr OnnxOperator map(std::string_view type) {
  return {type, 6, 1, 1, 1, as_graph_op<import_map<function>>};
}

template <ZipFunction function>
constexpr OnnxOperator zip(std::string_view type) {
  return {type, 7, 2, 2, 2, as_graph_op<import_zip<function>>};
}

constexpr OnnxOperator kOperators[] = {
    map<MapFunction::abs>("Abs"),
    zip<ZipFunction::add>("Add"),
    {"BatchNormalization", 7, 5, 5, 5, as_graph_op<import_batch_norm>},
    {"Clip", 6, 1, 3, 1, as_graph_op<import_clip>},
    {"Conv", 1, 2, 3, 3, as_graph_op<import_conv>},
    {"ConvTranspose", 1, 2, 3, 3, as_graph_op<import_conv_transpose>},
    zip<ZipFunction::div>("Div"),
    {"Erf", 9, 1, 1, 1, as_graph_op<import_map<MapFunction::erf>>},
    map<MapFunction::exp>("Exp"),
    {"Flatten", 1, 1, 1, 1, as_graph_op<import_flatten>},
    {"Gemm", 7, 2, 3, 3, as_graph_op<import_gemm>},
    {"GlobalAveragePool", 1, 1, 1, 1, as_graph_op<import_global_average_pool>},
    {"HardSigmoid", 6, 1, 1, 1, as_graph_op<import_hard_sigmoid>},
    {"HardSwish", 14, 1, 1, 1, as_graph_op<import_map<MapFunction::hard_swish>>},
    {"Identity", 1, 1, 1, 1, as_graph_op<import_identity>},
    {"LeakyRelu", 6, 1, 1, 1, as_graph_op<import_leaky_relu>},
    map<MapFunction::log>("Log"),
    {"MatMul", 1, 2, 2, 2, as_graph_op<import_matmul>},
    {"Max", 8, 2, 2, 2, as_graph_op<import_zip<ZipFunction::max>>},
    {"MaxPool", 1, 1, 1, 1, as_graph_op<import_max_pool>},
    {"Min", 8, 2, 2, 2, as_graph_op<import_zip<ZipFunction::min>>},
    zip<ZipFunction::mul>("Mul"),
    map<MapFunction::negate>("Neg"),
    map<MapFunction::reciprocal>("Reciprocal"),
    map<MapFunction::relu>("Relu"),
    {"Reshape", 5, 2, 2, 1, as_graph_op<import_reshape>},
    map<MapFunction::sigmoid>("Sigmoid"),
    map<MapFunction::sqrt>("Sqrt"),
    zip<ZipFunction::sub>("Sub"),
    map<MapFunction::tanh>("Tanh"),
};

}  // namespace

const OnnxOperator* find_onnx_operator(std::string_view type) {
  for (const OnnxOperator& candidate : kOperators) {
    if (candidate.type == type) return &candidate;
  }
  return nullptr;
}

}  // namespace lathe
