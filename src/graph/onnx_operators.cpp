#include "graph/onnx_operators.h"

#include "graph/onnx_known.h"

namespace lathe {

namespace {

using Imported = Result<std::vector<ImportedOutput>>;

template <auto import>
Imported as_graph_op(OnnxNode& node) {
  LATHE_TRY(auto op, import(node));
  return std::vector<ImportedOutput>{GraphOp(std::move(op))};
}

template <auto import>
Imported as_constant(OnnxNode& node) {
  LATHE_TRY(OnnxConstant constant, import(node));
  return std::vector<ImportedOutput>{std::move(constant)};
}

Imported split(OnnxNode& node) {
  LATHE_TRY(const std::vector<SliceOp> parts, import_split(node));
  std::vector<ImportedOutput> outputs;
  for (const SliceOp& part : parts) outputs.emplace_back(GraphOp(part));
  return outputs;
}

// Nothing is left to do where the type stays.
Result<GraphOp> cast_or_nothing(OnnxNode& node) {
  LATHE_TRY(const CastOp op, import_cast(node));
  return op.to == node.type(0).dtype ? GraphOp(IdentityOp{}) : GraphOp(op);
}

template <ReduceFunction function>
constexpr OnnxOperator reduce_row(std::string_view type) {
  return {type, 1, 1, 2, 1, as_graph_op<import_reduce_of<function>>};
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
    {"AveragePool", 1, 1, 1, 1, as_graph_op<import_average_pool>},
    {"BatchNormalization", 7, 5, 5, 5, as_graph_op<import_batch_norm>},
    {"Cast", 6, 1, 1, 1, as_graph_op<cast_or_nothing>},
    {"Clip", 6, 1, 3, 1, as_graph_op<import_clip>},
    {"Concat", 4, 1, 1024, 1024, as_graph_op<import_concat>},
    {"ConstantOfShape", 9, 1, 1, 0, as_constant<import_constant_of_shape>},
    {"Conv", 1, 2, 3, 3, as_graph_op<import_conv>},
    {"ConvTranspose", 1, 2, 3, 3, as_graph_op<import_conv_transpose>},
    {"Div", 7, 2, 2, 2, as_graph_op<import_div>},
    {"Dropout", 7, 1, 3, 1, as_graph_op<import_dropout>},
    {"Elu", 6, 1, 1, 1, as_graph_op<import_elu>},
    {"Erf", 9, 1, 1, 1, as_graph_op<import_map<MapFunction::erf>>},
    map<MapFunction::exp>("Exp"),
    {"Expand", 8, 2, 2, 1, as_graph_op<import_expand>},
    {"Flatten", 1, 1, 1, 1, as_graph_op<import_flatten>},
    {"Gather", 1, 2, 2, 1, as_graph_op<import_gather>},
    {"Gemm", 7, 2, 3, 3, as_graph_op<import_gemm>},
    {"GlobalAveragePool", 1, 1, 1, 1, as_graph_op<import_global_average_pool>},
    {"HardSigmoid", 6, 1, 1, 1, as_graph_op<import_hard_sigmoid>},
    {"HardSwish", 14, 1, 1, 1, as_graph_op<import_map<MapFunction::hard_swish>>},
    {"Identity", 1, 1, 1, 1, as_graph_op<import_identity>},
    {"LayerNormalization", 17, 2, 3, 3, as_graph_op<import_layer_norm>},
    {"LeakyRelu", 6, 1, 1, 1, as_graph_op<import_leaky_relu>},
    map<MapFunction::log>("Log"),
    {"LogSoftmax", 1, 1, 1, 1, as_graph_op<import_log_softmax>},
    {"MatMul", 1, 2, 2, 2, as_graph_op<import_matmul>},
    {"Max", 8, 2, 2, 2, as_graph_op<import_zip<ZipFunction::max>>},
    {"MaxPool", 1, 1, 1, 1, as_graph_op<import_max_pool>},
    {"Min", 8, 2, 2, 2, as_graph_op<import_zip<ZipFunction::min>>},
    zip<ZipFunction::mul>("Mul"),
    map<MapFunction::negate>("Neg"),
    {"PRelu", 7, 2, 2, 2, as_graph_op<import_zip<ZipFunction::p_relu>>},
    {"Pad", 2, 1, 4, 1, as_graph_op<import_pad>},
    {"Pow", 7, 2, 2, 1, as_graph_op<import_pow>},
    map<MapFunction::reciprocal>("Reciprocal"),
    reduce_row<ReduceFunction::l1>("ReduceL1"),
    reduce_row<ReduceFunction::l2>("ReduceL2"),
    reduce_row<ReduceFunction::max>("ReduceMax"),
    reduce_row<ReduceFunction::mean>("ReduceMean"),
    reduce_row<ReduceFunction::min>("ReduceMin"),
    reduce_row<ReduceFunction::sum>("ReduceSum"),
    reduce_row<ReduceFunction::sum_square>("ReduceSumSquare"),
    map<MapFunction::relu>("Relu"),
    {"Reshape", 5, 2, 2, 1, as_graph_op<import_reshape>},
    {"Resize", 10, 2, 4, 1, as_graph_op<import_resize>},
    {"Shape", 1, 1, 1, 0, as_constant<import_shape>},
    map<MapFunction::sigmoid>("Sigmoid"),
    {"Slice", 1, 1, 5, 1, as_graph_op<import_slice>},
    {"Softmax", 1, 1, 1, 1, as_graph_op<import_softmax>},
    {"Softplus", 1, 1, 1, 1, as_graph_op<import_map<MapFunction::soft_plus>>},
    {"Split", 2, 1, 2, 1, split},
    map<MapFunction::sqrt>("Sqrt"),
    {"Squeeze", 1, 1, 2, 1, as_graph_op<import_squeeze>},
    zip<ZipFunction::sub>("Sub"),
    {"Sum", 8, 2, 2, 2, as_graph_op<import_zip<ZipFunction::add>>},
    map<MapFunction::tanh>("Tanh"),
    {"Transpose", 1, 1, 1, 1, as_graph_op<import_transpose>},
    {"Unsqueeze", 1, 1, 2, 1, as_graph_op<import_unsqueeze>},
    {"Upsample", 7, 1, 2, 1, as_graph_op<import_upsample>},
};

}  // namespace

const OnnxOperator* find_onnx_operator(std::string_view type) {
  for (const OnnxOperator& candidate : kOperators) {
    if (candidate.type == type) return &candidate;
  }
  return nullptr;
}

}  // namespace lathe
