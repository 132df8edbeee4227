// A pass of graph/simplify.h.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "graph/rewriting.h"
#include "graph/simplify.h"

namespace lathe {
namespace {

// Below it a scale may lose digits, so that what is divided by it again need not be near a whole number.
constexpr double kLeastScale = std::numeric_limits<float>::min();

// How many tensors between reals and their numbers are looked at: as many as no quantizer leaves there.
constexpr size_t kMostMoved = 64;

// A tensor round(real / scale) + zero of integers of 8 bits.
struct RoundedReal {
  TensorId real = 0;
  double scale = 1;
  double zero = 0;
  DType dtype = DType::u8;
};

// What changes with its operands' numbers alone, and the same way whatever these stand for: a tensor of some
// of them, or the largest ones.
bool keeps_numbers(const GraphOp& op) { return moves_elements(op) || std::holds_alternative<MaxPoolOp>(op); }

class KeepIntegers : Rewriting {
 public:
  explicit KeepIntegers(const Graph& graph) : Rewriting(graph) {}

  Graph run() {
    for (const GraphNode& node : graph_.nodes) {
      known_.clear();
      moved_.clear();
      const std::optional<RoundedReal> rounded = rounded_real(node);
      if (!rounded || !comes_from_integers(rounded->real, *rounded)) {
        result_.nodes.push_back(node);
        continue;
      }
      const TensorId numbers = integers_of(node, rounded->real, *rounded);
      if (numbers + 1 == result_.tensors.size() && !result_.nodes.empty() &&
          result_.nodes.back().output == numbers) {
        finish(node);
      } else {
        result_.nodes.push_back({node.name, IdentityOp{}, {numbers}, node.output});
      }
    }
    return std::move(result_);
  }

 private:
  std::optional<RoundedReal> rounded_real(const GraphNode& node) const {
    const auto* cast = std::get_if<CastOp>(&node.op);
    if (cast == nullptr || (cast->to != DType::u8 && cast->to != DType::i8)) return std::nullopt;
    RoundedReal result{node.inputs[0], 1, 0, cast->to};
    while (const GraphNode* shifted = zip_producer(result.real, ZipFunction::add)) {
      const auto shift = numbers_of(shifted->inputs[1]);
      if (!shift || !single(*shift)) return std::nullopt;
      result.zero += *single(*shift);
      result.real = shifted->inputs[0];
    }
    const GraphNode* rounding = producer<MapOp>(result.real);
    if (rounding == nullptr || std::get<MapOp>(rounding->op).function != MapFunction::round)
      return std::nullopt;
    const GraphNode* quotient = zip_producer(rounding->inputs[0], ZipFunction::div);
    const auto scale = quotient == nullptr ? std::nullopt : numbers_of(quotient->inputs[1]);
    if (!scale || !single(*scale) || type_of(quotient->inputs[0]).dtype != DType::f32) return std::nullopt;
    result.scale = *single(*scale);
    result.real = quotient->inputs[0];
    const bool is_plain = result.scale >= kLeastScale && std::isfinite(result.scale) &&
                          type_of(result.real).shape == type_of(node.output).shape;
    return is_plain ? std::optional(result) : std::nullopt;
  }

  // The numbers that a tensor of reals is made of, by the same scale and zero point. Of a constant they were
  // less their zero point already where the model was read.
  std::optional<Dequantized> numbers_behind(TensorId id, const RoundedReal& like) const {
    std::optional<Dequantized> found = scaled_integers(id);
    if (!found || single(found->scale) != like.scale) return std::nullopt;
    const double zero = found->zero ? single(*found->zero).value_or(std::nan("")) : 0;
    const GraphTensor& numbers = graph_.tensors[found->numbers];
    if (numbers.type.dtype == like.dtype) return zero == like.zero ? found : std::nullopt;
    if (!numbers.is_constant() || zero != 0) return std::nullopt;
    const double least = like.dtype == DType::u8 ? 0 : -128;
    const auto fits = [&](double value) {
      return value + like.zero >= least && value + like.zero <= least + 255;
    };
    return std::ranges::all_of(values_of(numbers), fits) ? found : std::nullopt;
  }

  // Whether the reals are such numbers moved, all by nodes that can move the numbers themselves.
  bool comes_from_integers(TensorId id, const RoundedReal& like) {
    if (known_.contains(id)) return known_.at(id);
    if (known_.size() >= kMostMoved) return false;
    bool& comes = known_[id] = numbers_behind(id, like).has_value();
    const GraphNode* node = any_producer(id);
    if (comes || node == nullptr || !keeps_numbers(node->op)) return comes;
    return comes = std::ranges::all_of(node->inputs, [&](TensorId operand) {
             return type_of(operand).dtype != DType::f32 || comes_from_integers(operand, like);
           });
  }

  TensorId integers_of(const GraphNode& origin, TensorId id, const RoundedReal& like) {
    const auto known = moved_.find(id);
    if (known != moved_.end()) return known->second;
    return moved_[id] = new_integers_of(origin, id, like);
  }
  TensorId new_integers_of(const GraphNode& origin, TensorId id, const RoundedReal& like) {
    if (const auto found = numbers_behind(id, like)) {
      const GraphTensor numbers = graph_.tensors[found->numbers];
      if (numbers.type.dtype == like.dtype) return found->numbers;
      std::vector<double> values = values_of(numbers);
      for (double& value : values) value += like.zero;
      return constant(numbers.name, like.dtype, numbers.type.shape, values);
    }
    const GraphNode& node = *any_producer(id);
    std::vector<TensorId> operands = node.inputs;
    for (TensorId& operand : operands)
      if (type_of(operand).dtype == DType::f32) operand = integers_of(origin, operand, like);
    return add(origin, node.op, operands);
  }

  // Of the node that is rewritten.
  std::map<TensorId, bool> known_;      // whether a tensor comes from integers
  std::map<TensorId, TensorId> moved_;  // these
};

}  // namespace

Graph keep_integers(const Graph& graph) { return KeepIntegers(graph).run(); }

}  // namespace lathe
