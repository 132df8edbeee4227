#include "graph/onnx/nodes/fused.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace lathe {
namespace {

std::vector<size_t> operands_of(const OnnxNode& node, size_t most) {
  std::vector<size_t> operands(std::min(node.input_count(), most));
  std::iota(operands.begin(), operands.end(), size_t{0});
  return operands;
}

// The activation of that name, by its parameters in order; an Error for one that ONNX Runtime does not fuse.
Result<MapOp> activation_of(const std::string& name, const std::vector<double>& parameters) {
  const auto parameter = [&](size_t number, double otherwise) {
    return number < parameters.size() ? parameters[number] : otherwise;
  };
  if (name == "Relu") return MapOp{MapFunction::relu};
  if (name == "Sigmoid") return MapOp{MapFunction::sigmoid};
  if (name == "Tanh") return MapOp{MapFunction::tanh};
  if (name == "LeakyRelu") return MapOp{MapFunction::leaky_relu, parameter(0, 0.01)};
  if (name == "HardSigmoid") return MapOp{MapFunction::hard_sigmoid, parameter(0, 0.2), parameter(1, 0.5)};
  if (name == "Elu") return MapOp{MapFunction::elu, parameter(0, 1)};
  if (name == "Selu") return MapOp{MapFunction::selu, parameter(0, kSeluAlpha), parameter(1, kSeluGamma)};
  if (name == "Softplus") return MapOp{MapFunction::soft_plus};
  if (name == "Softsign") return MapOp{MapFunction::soft_sign};
  if (name == "ThresholdedRelu") return MapOp{MapFunction::thresholded_relu, parameter(0, 1)};
  if (name == "Clip" && parameters.size() == 2) return MapOp{MapFunction::clip, parameters[0], parameters[1]};
  return fail(
      ErrorKind::unsupported,
      fmt::format("attribute 'activation' is '{}', and Lathe supports Relu, Sigmoid, Tanh, LeakyRelu, "
                  "HardSigmoid, Elu, Selu, Softplus, Softsign, ThresholdedRelu and Clip between two numbers",
                  name));
}

ImportedOutputs import_gelu_of_sum(OnnxNode& node, MapFunction function) {
  StepList steps(node.input_count());
  const size_t x = node.has_input(1) ? steps.add(ZipOp{ZipFunction::add}, {0, 1}) : 0;
  steps.add(MapOp{function}, {x});
  return std::vector<ImportedOutput>{steps.finish()};
}

}  // namespace

ImportedOutputs import_fused_matmul(OnnxNode& node) {
  StepList steps(node.input_count());
  const auto matrix = [&](size_t input, const char* turned, const char* is_first) {
    const size_t rank = node.shape(input).size();
    const bool turns = node.integer(turned, 0) != 0, begins = node.integer(is_first, 0) != 0;
    if ((!turns && !begins) || rank < 2) return input;
    TransposeOp op;
    for (size_t axis = 0; axis < rank; ++axis) op.order.push_back(axis);
    if (begins) std::rotate(op.order.begin(), op.order.begin() + 1, op.order.end() - 1);
    if (turns) std::swap(op.order[rank - 1], op.order[rank - 2]);
    return steps.add(op, {input});
  };
  const size_t a = matrix(0, "transA", "transBatchA"), b = matrix(1, "transB", "transBatchB");
  const size_t product = steps.add(MatMulOp{}, {a, b});
  if (const double alpha = node.real("alpha", 1); alpha != 1)
    steps.add(ZipOp{ZipFunction::mul}, {product, steps.real(alpha)});
  return std::vector<ImportedOutput>{steps.finish()};
}

ImportedOutputs import_fused_conv(OnnxNode& node) {
  constexpr size_t kConvOperands = 3, kAdded = 3;
  LATHE_TRY_STATUS(node.require_inputs({0, 1}));
  LATHE_TRY(const ConvOp op, import_conv(node));
  StepList steps(node.input_count());
  std::vector<size_t> operands = operands_of(node, kConvOperands);
  if (!node.has_input(kConvOperands - 1)) operands.resize(kConvOperands - 1);
  size_t result = steps.add(op, operands);
  if (node.has_input(kAdded)) result = steps.add(ZipOp{ZipFunction::add}, {result, kAdded});
  const std::vector<double> parameters = node.reals("activation_params");
  if (const std::string name = node.text("activation", ""); !name.empty()) {
    LATHE_TRY(const MapOp activation, activation_of(name, parameters));
    steps.add(activation, {result});
  }
  return std::vector<ImportedOutput>{steps.finish()};
}

ImportedOutputs import_fused_gemm(OnnxNode& node) {
  LATHE_TRY(const GemmOp op, import_gemm(node));
  StepList steps(node.input_count());
  const size_t result = steps.add(op, operands_of(node, 3));
  std::vector<double> parameters;
  for (const char* name : {"activation_alpha", "activation_beta", "activation_gamma"})
    if (node.has(name)) parameters.push_back(node.real(name, 0));
  if (const std::string name = node.text("activation", ""); !name.empty()) {
    LATHE_TRY(const MapOp activation, activation_of(name, parameters));
    steps.add(activation, {result});
  }
  return std::vector<ImportedOutput>{steps.finish()};
}

ImportedOutputs import_bias_gelu(OnnxNode& node) { return import_gelu_of_sum(node, MapFunction::gelu); }
ImportedOutputs import_fast_gelu(OnnxNode& node) { return import_gelu_of_sum(node, MapFunction::gelu_tanh); }

ImportedOutputs import_quick_gelu(OnnxNode& node) {
  constexpr double kAlpha = 1.702;
  StepList steps(node.input_count());
  const double alpha = node.real("alpha", kAlpha);
  const size_t scaled = steps.add(ZipOp{ZipFunction::mul}, {0, steps.real(alpha)});
  steps.add(ZipOp{ZipFunction::mul}, {0, steps.add(MapOp{MapFunction::sigmoid}, {scaled})});
  return std::vector<ImportedOutput>{steps.finish()};
}

}  // namespace lathe
