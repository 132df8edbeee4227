#include "graph/onnx/operators.h"

#include "graph/onnx/nodes/attention.h"
#include "graph/onnx/nodes/casts.h"
#include "graph/onnx/nodes/causal_conv.h"
#include "graph/onnx/nodes/composed.h"
#include "graph/onnx/nodes/determinant.h"
#include "graph/onnx/nodes/fourier.h"
#include "graph/onnx/nodes/fused.h"
#include "graph/onnx/nodes/grid_sample.h"
#include "graph/onnx/nodes/group_query_attention.h"
#include "graph/onnx/nodes/known.h"
#include "graph/onnx/nodes/linear_attention.h"
#include "graph/onnx/nodes/losses.h"
#include "graph/onnx/nodes/multi_head_attention.h"
#include "graph/onnx/nodes/padding.h"
#include "graph/onnx/nodes/quantize.h"
#include "graph/onnx/nodes/quantized_mixed.h"
#include "graph/onnx/nodes/quantized_pointwise.h"
#include "graph/onnx/nodes/quantized_products.h"
#include "graph/onnx/nodes/recurrent.h"
#include "graph/onnx/nodes/resample.h"
#include "graph/onnx/nodes/rotary.h"
#include "graph/onnx/nodes/sampled.h"
#include "graph/onnx/nodes/scatter.h"
#include "graph/onnx/nodes/selections.h"
#include "graph/onnx/nodes/sequence_places.h"
#include "graph/onnx/nodes/skip_norm.h"
#include "graph/onnx/nodes/statistics.h"
#include "graph/onnx/nodes/top_k.h"
#include "graph/onnx/nodes/windows.h"

namespace lathe {

namespace {

using Imported = ImportedOutputs;

template <auto import>
Imported as_graph_op(OnnxNode& node) {
  LATHE_TRY(auto op, import(node));
  return std::vector<ImportedOutput>{GraphOp(std::move(op))};
}

// Of an import that chooses between operators.
template <auto import>
Imported as_either(OnnxNode& node) {
  LATHE_TRY(const auto op, import(node));
  const auto as_op = [](const auto& either) { return GraphOp(either); };
  return std::vector<ImportedOutput>{std::visit(as_op, op)};
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

template <ReduceFunction function>
constexpr OnnxOperator reduce_row(std::string_view type) {
  return {type, 1, 1, 2, 1, import_any_reduce_of<function>};
}

template <MapFunction function>
constexpr OnnxOperator map(std::string_view type) {
  return {type, 6, 1, 1, 1, as_graph_op<import_map<function>>};
}

template <ZipFunction function>
constexpr OnnxOperator zip(std::string_view type) {
  return {type, 6, 2, 2, 2, as_graph_op<import_zip<function>>};
}

constexpr OnnxOperator kOperators[] = {
    map<MapFunction::abs>("Abs"),
    {"Acos", 7, 1, 1, 1, as_graph_op<import_map<MapFunction::acos>>},
    {"Acosh", 9, 1, 1, 1, as_graph_op<import_map<MapFunction::acosh>>},
    zip<ZipFunction::add>("Add"),
    {"AffineGrid", 20, 2, 2, 1, import_affine_grid},
    zip<ZipFunction::logical_and>("And"),
    {"ArgMax", 1, 1, 1, 1, as_graph_op<import_arg_max>},
    {"ArgMin", 1, 1, 1, 1, as_graph_op<import_arg_min>},
    {"Asin", 7, 1, 1, 1, as_graph_op<import_map<MapFunction::asin>>},
    {"Asinh", 9, 1, 1, 1, as_graph_op<import_map<MapFunction::asinh>>},
    {"Atan", 7, 1, 1, 1, as_graph_op<import_map<MapFunction::atan>>},
    {"Atanh", 9, 1, 1, 1, as_graph_op<import_map<MapFunction::atanh>>},
    {"Attention", 23, 3, 7, 7, import_attention},
    {"AveragePool", 1, 1, 1, 1, as_graph_op<import_average_pool>},
    {"BatchNormalization", 6, 5, 5, 5, import_batch_norm_outputs},
    {"BitCast", 26, 1, 1, 1, as_graph_op<import_bit_cast>, false, ResultType::own},
    {"BitShift", 11, 2, 2, 2, as_graph_op<import_bit_shift>},
    {"BitwiseAnd", 18, 2, 2, 2, as_graph_op<import_zip<ZipFunction::bit_and>>},
    {"BitwiseNot", 18, 1, 1, 1, as_graph_op<import_map<MapFunction::bit_not>>},
    {"BitwiseOr", 18, 2, 2, 2, as_graph_op<import_zip<ZipFunction::bit_or>>},
    {"BitwiseXor", 18, 2, 2, 2, as_graph_op<import_zip<ZipFunction::bit_xor>>},
    {"BlackmanWindow", 17, 1, 1, 0, as_constant<import_blackman_window>},
    {"Cast", 6, 1, 1, 1, import_cast_node, false, ResultType::own},
    {"CastLike", 15, 2, 2, 1, import_cast_like, true, ResultType::own},
    {"CausalConvWithState", 27, 2, 4, 4, import_causal_conv},
    map<MapFunction::ceil>("Ceil"),
    {"Celu", 12, 1, 1, 1, as_graph_op<import_celu>},
    {"CenterCropPad", 18, 2, 2, 1, as_graph_op<import_center_crop_pad>},
    {"Clip", 6, 1, 3, 1, as_graph_op<import_clip>},
    {"Col2Im", 18, 3, 3, 1, import_col2im},
    {"Compress", 9, 2, 2, 2, import_compress},
    {"Concat", 4, 1, 1024, 1024, as_graph_op<import_concat>},
    {"ConstantOfShape", 9, 1, 1, 0, as_constant<import_constant_of_shape>, true},
    {"Conv", 1, 2, 3, 3, as_graph_op<import_conv>},
    {"ConvInteger", 10, 2, 4, 4, import_conv_integer},
    {"ConvTranspose", 1, 2, 3, 3, as_graph_op<import_conv_transpose>},
    {"Cos", 7, 1, 1, 1, as_graph_op<import_map<MapFunction::cos>>},
    {"Cosh", 9, 1, 1, 1, as_graph_op<import_map<MapFunction::cosh>>},
    {"CumProd", 26, 2, 2, 1, as_graph_op<import_cumprod>},
    {"CumSum", 11, 2, 2, 1, as_graph_op<import_cumsum>},
    {"DFT", 17, 1, 3, 1, import_dft},
    {"DeformConv", 19, 3, 5, 5, import_deform_conv},
    {"DepthToSpace", 1, 1, 1, 1, as_graph_op<import_depth_to_space>},
    {"DequantizeLinear", 10, 2, 3, 3, import_dequantize_linear, false, ResultType::own},
    {"Det", 11, 1, 1, 1, import_det},
    {"Div", 6, 2, 2, 2, as_graph_op<import_zip<ZipFunction::div>>},
    {"Dropout", 6, 1, 3, 1, import_dropout_outputs},
    {"DynamicQuantizeLinear", 11, 1, 1, 1, import_dynamic_quantize_linear},
    {"Einsum", 12, 1, 64, 64, as_graph_op<import_einsum>},
    {"Elu", 6, 1, 1, 1, as_graph_op<import_elu>},
    zip<ZipFunction::equal>("Equal"),
    {"Erf", 9, 1, 1, 1, as_graph_op<import_map<MapFunction::erf>>},
    map<MapFunction::exp>("Exp"),
    {"Expand", 8, 2, 2, 1, as_graph_op<import_expand>, true},
    {"EyeLike", 9, 1, 1, 0, as_constant<import_eye_like>},
    {"Flatten", 1, 1, 1, 1, as_graph_op<import_flatten>},
    map<MapFunction::floor>("Floor"),
    {"Gather", 1, 2, 2, 2, as_either<import_gather>},
    {"GatherElements", 11, 2, 2, 2, as_graph_op<import_gather_elements>},
    {"GRU", 7, 3, 6, 6, import_gru},
    {"GatherND", 11, 2, 2, 2, import_gather_nd},
    {"Gelu", 20, 1, 1, 1, as_graph_op<import_gelu>},
    {"Gemm", 6, 2, 3, 3, as_graph_op<import_gemm>},
    {"GlobalAveragePool", 1, 1, 1, 1, as_graph_op<import_global_average_pool>},
    {"GlobalLpPool", 2, 1, 1, 1, import_any_global_lp_pool},
    {"GlobalMaxPool", 1, 1, 1, 1, as_graph_op<import_global_max_pool>},
    zip<ZipFunction::greater>("Greater"),
    {"GreaterOrEqual", 12, 2, 2, 2, as_graph_op<import_zip<ZipFunction::greater_equal>>},
    {"GridSample", 16, 2, 2, 2, import_grid_sample, false, ResultType::first},
    {"GroupNormalization", 18, 3, 3, 3, as_graph_op<import_group_norm>},
    {"HammingWindow", 17, 1, 1, 0, as_constant<import_hamming_window>},
    {"HannWindow", 17, 1, 1, 0, as_constant<import_hann_window>},
    {"HardSigmoid", 6, 1, 1, 1, as_graph_op<import_hard_sigmoid>},
    {"HardSwish", 14, 1, 1, 1, as_graph_op<import_map<MapFunction::hard_swish>>},
    {"Hardmax", 13, 1, 1, 1, as_graph_op<import_hardmax>},
    {"Identity", 1, 1, 1, 1, as_graph_op<import_identity>},
    {"InstanceNormalization", 6, 3, 3, 3, as_graph_op<import_instance_norm>},
    {"IsInf", 10, 1, 1, 1, as_graph_op<import_is_inf>},
    {"IsNaN", 9, 1, 1, 1, as_graph_op<import_map<MapFunction::is_nan>>},
    {"LRN", 1, 1, 1, 1, as_graph_op<import_lrn>},
    {"LSTM", 7, 3, 8, 8, import_lstm},
    {"LayerNormalization", 17, 2, 3, 3, import_layer_norm_outputs, false, ResultType::first},
    {"LeakyRelu", 6, 1, 1, 1, as_graph_op<import_leaky_relu>},
    zip<ZipFunction::less>("Less"),
    {"LessOrEqual", 12, 2, 2, 2, as_graph_op<import_zip<ZipFunction::less_equal>>},
    {"LinearAttention", 27, 3, 6, 6, import_linear_attention, false, ResultType::first},
    map<MapFunction::log>("Log"),
    {"LogSoftmax", 1, 1, 1, 1, as_graph_op<import_log_softmax>},
    {"LpNormalization", 1, 1, 1, 1, as_graph_op<import_lp_norm>},
    {"LpPool", 2, 1, 1, 1, import_any_lp_pool},
    {"MatMul", 1, 2, 2, 2, as_graph_op<import_matmul>},
    {"MatMulInteger", 10, 2, 4, 4, import_matmul_integer},
    {"Max", 6, 2, 2, 2, as_graph_op<import_zip<ZipFunction::max>>},
    {"MaxPool", 1, 1, 1, 1, import_max_pool_outputs},
    {"MaxUnpool", 9, 2, 3, 2, import_max_unpool},
    {"Mean", 6, 1, 2, 2, as_graph_op<import_zip<ZipFunction::add>>},  // short for others
    {"MeanVarianceNormalization", 9, 1, 1, 1, as_graph_op<import_mean_variance_norm>},
    {"MelWeightMatrix", 17, 5, 5, 0, as_constant<import_mel_weight_matrix>},
    {"Min", 6, 2, 2, 2, as_graph_op<import_zip<ZipFunction::min>>},
    {"Mish", 18, 1, 1, 1, as_graph_op<import_map<MapFunction::mish>>},
    {"Mod", 10, 2, 2, 2, as_graph_op<import_mod>},
    zip<ZipFunction::mul>("Mul"),
    map<MapFunction::negate>("Neg"),
    {"NegativeLogLikelihoodLoss", 12, 2, 3, 3, import_likelihood_loss},
    {"NonMaxSuppression", 10, 2, 5, 5, import_non_max_suppression},
    {"NonZero", 9, 1, 1, 1, import_non_zero},
    {"Not", 1, 1, 1, 1, as_graph_op<import_map<MapFunction::logical_not>>},
    {"OneHot", 9, 3, 3, 3, import_one_hot, false, ResultType::own},
    zip<ZipFunction::logical_or>("Or"),
    {"PRelu", 6, 2, 2, 2, as_graph_op<import_zip<ZipFunction::p_relu>>},
    {"Pad", 2, 1, 4, 3, import_pad},
    {"Pow", 6, 2, 2, 2, as_either<import_pow>},
    {"QLinearConv", 10, 8, 9, 9, import_qlinear_conv},
    {"QLinearMatMul", 10, 8, 8, 8, import_qlinear_matmul},
    {"QuantizeLinear", 10, 2, 3, 3, import_quantize_linear},
    {"RMSNormalization", 23, 2, 2, 2, import_rms_norm},
    {"RNN", 7, 3, 6, 6, import_rnn},
    {"Range", 11, 3, 3, 0, as_constant<import_range>},
    map<MapFunction::reciprocal>("Reciprocal"),
    reduce_row<ReduceFunction::l1>("ReduceL1"),
    reduce_row<ReduceFunction::l2>("ReduceL2"),
    reduce_row<ReduceFunction::log_sum>("ReduceLogSum"),
    reduce_row<ReduceFunction::log_sum_exp>("ReduceLogSumExp"),
    reduce_row<ReduceFunction::max>("ReduceMax"),
    reduce_row<ReduceFunction::mean>("ReduceMean"),
    reduce_row<ReduceFunction::min>("ReduceMin"),
    reduce_row<ReduceFunction::product>("ReduceProd"),
    reduce_row<ReduceFunction::sum>("ReduceSum"),
    reduce_row<ReduceFunction::sum_square>("ReduceSumSquare"),
    map<MapFunction::relu>("Relu"),
    {"Reshape", 5, 2, 2, 1, as_graph_op<import_reshape>, true},
    {"Resize", 10, 2, 4, 1, import_resize_outputs},
    {"ReverseSequence", 10, 2, 2, 2, import_reverse_sequence},
    {"Round", 11, 1, 1, 1, as_graph_op<import_map<MapFunction::round>>},
    {"RoiAlign", 10, 3, 3, 3, import_roi_align},
    {"RotaryEmbedding", 23, 3, 4, 4, import_rotary_embedding},
    {"STFT", 17, 2, 4, 3, import_stft},
    {"Scatter", 9, 3, 3, 3, import_scatter_elements},
    {"ScatterElements", 11, 3, 3, 3, import_scatter_elements},
    {"ScatterND", 11, 3, 3, 3, import_scatter_nd},
    {"Selu", 6, 1, 1, 1, as_graph_op<import_selu>},
    {"Shape", 1, 1, 1, 0, as_constant<import_shape>},
    {"Shrink", 9, 1, 1, 1, as_graph_op<import_shrink>},
    map<MapFunction::sigmoid>("Sigmoid"),
    {"Sign", 9, 1, 1, 1, as_graph_op<import_map<MapFunction::sign>>},
    {"SimplifiedLayerNormalization", 1, 2, 2, 2, import_rms_norm},
    {"Sin", 7, 1, 1, 1, as_graph_op<import_map<MapFunction::sin>>},
    {"Sinh", 9, 1, 1, 1, as_graph_op<import_map<MapFunction::sinh>>},
    {"Size", 1, 1, 1, 0, as_constant<import_size>},
    {"Slice", 1, 1, 5, 1, as_graph_op<import_slice>},
    {"Softmax", 1, 1, 1, 1, as_graph_op<import_softmax>},
    {"SoftmaxCrossEntropyLoss", 12, 2, 3, 3, import_cross_entropy},
    {"Softplus", 1, 1, 1, 1, as_graph_op<import_map<MapFunction::soft_plus>>},
    {"Softsign", 1, 1, 1, 1, as_graph_op<import_map<MapFunction::soft_sign>>},
    {"SpaceToDepth", 1, 1, 1, 1, as_graph_op<import_space_to_depth>},
    {"Split", 2, 1, 2, 1, split},
    map<MapFunction::sqrt>("Sqrt"),
    {"Squeeze", 1, 1, 2, 1, as_graph_op<import_squeeze>},
    zip<ZipFunction::sub>("Sub"),
    {"Sum", 6, 2, 2, 2, as_graph_op<import_zip<ZipFunction::add>>},
    {"SwiGLU", 28, 2, 2, 2, import_swiglu},
    {"Swish", 24, 1, 1, 1, as_graph_op<import_swish>},
    map<MapFunction::tanh>("Tanh"),
    {"Tan", 7, 1, 1, 1, as_graph_op<import_map<MapFunction::tan>>},
    {"TensorScatter", 24, 2, 3, 3, import_tensor_scatter},
    {"ThresholdedRelu", 10, 1, 1, 1, as_graph_op<import_thresholded_relu>},
    {"Tile", 6, 2, 2, 1, as_graph_op<import_tile>},
    {"TopK", 1, 1, 2, 1, import_top_k},
    {"Transpose", 1, 1, 1, 1, as_graph_op<import_transpose>},
    {"Trilu", 14, 1, 2, 1, as_graph_op<import_trilu>},
    {"Unique", 11, 1, 1, 1, import_unique, false, ResultType::first},
    {"Unsqueeze", 1, 1, 2, 1, as_graph_op<import_unsqueeze>},
    {"Upsample", 7, 1, 2, 1, as_graph_op<import_upsample>},
    {"Where", 9, 3, 3, 3, as_graph_op<import_where>},
    zip<ZipFunction::logical_xor>("Xor"),
};

// Of version 1 of the domain, the only one. Most may lack inputs in the middle: their imports say which must
// be there.
constexpr OnnxOperator kRuntimeOperators[] = {
    {"Attention", 1, 1, 6, 6, import_packed_attention},
    {"BiasGelu", 1, 2, 2, 2, import_bias_gelu},
    {"DequantizeLinear", 1, 2, 3, 3, import_dequantize_linear, false, ResultType::own},
    {"DynamicQuantizeLSTM", 1, 3, 12, 12, import_dynamic_quantize_lstm},
    {"DynamicQuantizeMatMul", 1, 3, 5, 5, import_dynamic_quantize_matmul},
    {"EmbedLayerNormalization", 1, 1, 9, 9, import_embed_layer_norm},
    {"FastGelu", 1, 1, 2, 2, import_fast_gelu},
    {"FusedConv", 1, 1, 4, 4, import_fused_conv},
    {"FusedGemm", 1, 2, 3, 3, import_fused_gemm},
    {"FusedMatMul", 1, 2, 2, 2, import_fused_matmul},
    {"GatherBlockQuantized", 1, 1, 4, 4, import_gather_block_quantized},
    {"Gelu", 1, 1, 1, 1, as_graph_op<import_map<MapFunction::gelu>>},
    {"GroupQueryAttention", 1, 1, 12, 12, import_group_query_attention},
    {"MatMulIntegerToFloat", 1, 4, 7, 7, import_matmul_integer_to_float},
    {"MatMulNBits", 1, 3, 6, 6, import_matmul_nbits},
    {"MultiHeadAttention", 1, 1, 8, 8, import_multi_head_attention},
    {"Pad", 1, 2, 3, 3, import_pad},
    {"QAttention", 1, 1, 9, 9, import_quantized_attention},
    {"QGemm", 1, 1, 9, 9, import_qgemm},
    {"QLinearAdd", 1, 1, 8, 8, import_qlinear_add},
    {"QLinearAveragePool", 1, 1, 5, 5, import_qlinear_average_pool},
    {"QLinearConcat", 1, 1, 1024, 1024, import_qlinear_concat},
    {"QLinearGlobalAveragePool", 1, 1, 5, 5, import_qlinear_global_average_pool},
    {"QLinearLeakyRelu", 1, 1, 5, 5, import_qlinear_leaky_relu},
    {"QLinearMul", 1, 1, 8, 8, import_qlinear_mul},
    {"QLinearReduceMean", 1, 1, 5, 5, import_qlinear_reduce_mean},
    {"QLinearSigmoid", 1, 1, 5, 5, import_qlinear_sigmoid},
    {"QLinearSoftmax", 1, 1, 5, 5, import_qlinear_softmax},
    {"QLinearWhere", 1, 1, 9, 9, import_qlinear_where},
    {"QuantizeLinear", 1, 2, 3, 3, import_quantize_linear},
    {"QuickGelu", 1, 1, 1, 1, import_quick_gelu},
    {"RotaryEmbedding", 1, 4, 4, 4, import_runtime_rotary_embedding},
    {"SkipLayerNormalization", 1, 1, 5, 5, import_skip_layer_norm},
    {"SkipSimplifiedLayerNormalization", 1, 1, 4, 4, import_skip_simplified_layer_norm},
    {"TransposeMatMul", 1, 2, 2, 2, import_fused_matmul},
    {"Trilu", 1, 1, 2, 1, as_graph_op<import_trilu>},
};

}  // namespace

std::span<const OnnxOperator> onnx_operators() { return kOperators; }
std::span<const OnnxOperator> runtime_operators() { return kRuntimeOperators; }

const OnnxOperator* find_onnx_operator(std::string_view domain, std::string_view type) {
  const bool is_own = domain.empty() || domain == "ai.onnx";
  if (!is_own && domain != "com.microsoft") return nullptr;
  for (const OnnxOperator& candidate : is_own ? onnx_operators() : runtime_operators()) {
    if (candidate.type == type) return &candidate;
  }
  return nullptr;
}

}  // namespace lathe
