#include "graph/onnx/empty.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <limits>

namespace lathe {

namespace {

// In the order of the alphabet.
constexpr std::string_view kOperators[] = {"Abs",
                                           "Acos",
                                           "Acosh",
                                           "Add",
                                           "And",
                                           "Asin",
                                           "Asinh",
                                           "Atan",
                                           "Atanh",
                                           "Cast",
                                           "CastLike",
                                           "Ceil",
                                           "Celu",
                                           "Clip",
                                           "Concat",
                                           "Cos",
                                           "Cosh",
                                           "CumSum",
                                           "Div",
                                           "Dropout",
                                           "Elu",
                                           "Equal",
                                           "Erf",
                                           "Exp",
                                           "Expand",
                                           "Flatten",
                                           "Floor",
                                           "Gather",
                                           "Gelu",
                                           "Greater",
                                           "GreaterOrEqual",
                                           "HardSigmoid",
                                           "HardSwish",
                                           "Identity",
                                           "IsInf",
                                           "IsNaN",
                                           "LeakyRelu",
                                           "Less",
                                           "LessOrEqual",
                                           "Log",
                                           "LogSoftmax",
                                           "MatMul",
                                           "Max",
                                           "Mean",
                                           "Min",
                                           "Mish",
                                           "Mul",
                                           "Neg",
                                           "Not",
                                           "Or",
                                           "PRelu",
                                           "Pow",
                                           "Reciprocal",
                                           "ReduceL1",
                                           "ReduceL2",
                                           "ReduceLogSum",
                                           "ReduceLogSumExp",
                                           "ReduceMax",
                                           "ReduceMean",
                                           "ReduceMin",
                                           "ReduceProd",
                                           "ReduceSum",
                                           "ReduceSumSquare",
                                           "Relu",
                                           "Reshape",
                                           "Round",
                                           "Scatter",
                                           "ScatterElements",
                                           "ScatterND",
                                           "Selu",
                                           "Shape",
                                           "Shrink",
                                           "Sigmoid",
                                           "Sign",
                                           "Sin",
                                           "Sinh",
                                           "Size",
                                           "Slice",
                                           "Softmax",
                                           "Softplus",
                                           "Softsign",
                                           "Split",
                                           "Sqrt",
                                           "Squeeze",
                                           "Sub",
                                           "Sum",
                                           "Swish",
                                           "Tan",
                                           "Tanh",
                                           "ThresholdedRelu",
                                           "Tile",
                                           "Transpose",
                                           "Trilu",
                                           "Unsqueeze",
                                           "Where",
                                           "Xor"};

double value_of(ReduceFunction function) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  switch (function) {
    case ReduceFunction::product: return 1;
    case ReduceFunction::mean: return std::numeric_limits<double>::quiet_NaN();
    case ReduceFunction::min: return kInfinity;
    case ReduceFunction::max:
    case ReduceFunction::log_sum:
    case ReduceFunction::log_sum_exp: return -kInfinity;
    case ReduceFunction::sum:
    case ReduceFunction::l1:
    case ReduceFunction::l2:
    case ReduceFunction::sum_square: return 0;
  }
  return 0;
}

}  // namespace

bool has_no_elements(const Shape& shape) { return std::ranges::find(shape, 0) != shape.end(); }

std::string one_for_none(Shape shape) {
  std::ranges::replace(shape, 0, 1);
  return fmt::format("{}", fmt::join(shape, ","));
}

bool takes_no_elements(std::string_view type) {
  return std::ranges::find(kOperators, type) != std::end(kOperators);
}

std::optional<double> value_of_none(const GraphOp& op) {
  if (const auto* reduce = std::get_if<ReduceOp>(&op)) return value_of(reduce->function);
  if (std::holds_alternative<MatMulOp>(op)) return 0;
  return std::nullopt;
}

}  // namespace lathe
