#include "graph/onnx/nodes/causal_conv.h"

#include <fmt/format.h>

namespace lathe {

namespace {

constexpr size_t kData = 0, kWeights = 1, kBias = 2, kPast = 3;

Status check_shapes(const OnnxNode& node) {
  const Shape &data = node.shape(kData), &weights = node.shape(kWeights);
  if (data.size() != 3 || weights.size() != 3 || weights[0] != data[1] || weights[1] != 1) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("its weights {} are not those of each channel of its data {}", to_string(weights),
                            to_string(data)));
  }
  const Shape bias{data[1]}, past{data[0], data[1], weights[2] - 1};
  const auto check = [&](size_t input, const Shape& shape) -> Status {
    if (!node.has_input(input) || node.shape(input) == shape) return {};
    return fail(ErrorKind::invalid_argument, fmt::format("input {} has shape {}, and must be {}", input,
                                                         to_string(node.shape(input)), to_string(shape)));
  };
  LATHE_TRY_STATUS(check(kBias, bias));
  return check(kPast, past);
}

}  // namespace

ImportedOutputs import_causal_conv(OnnxNode& node) {
  LATHE_TRY_STATUS(check_shapes(node));
  const Shape& data = node.shape(kData);
  const int64_t kernel = node.shape(kWeights)[2], past = kernel - 1;
  const std::string activation = node.text("activation", "none");
  if (activation != "none" && activation != "silu" && activation != "swish") {
    return fail(ErrorKind::invalid_argument,
                fmt::format("attribute 'activation' is '{}', and must be none, silu or swish", activation));
  }
  StepList steps(node.input_count());
  size_t whole = kData;
  if (node.has_input(kPast))
    whole = steps.add(ConcatOp{2}, {kPast, kData});
  else if (past > 0)
    whole = steps.add(PadOp{{0, 0, past}, {0, 0, 0}}, {kData});
  ConvOp conv{{{kernel}, {1}, {1}, {0}, {0}}, data[1]};
  std::vector<size_t> operands{whole, kWeights};
  if (node.has_input(kBias)) operands.push_back(kBias);
  const size_t sums = steps.add(conv, operands);
  if (activation != "none") steps.add(MapOp{MapFunction::swish, 1}, {sums});
  std::vector<ImportedOutput> outputs{steps.finish()};
  steps.add(SliceOp{{0, 0, data[2]}, {1, 1, 1}, {data[0], data[1], past}}, {whole});
  outputs.emplace_back(steps.finish());
  return outputs;
}

}  // namespace lathe
