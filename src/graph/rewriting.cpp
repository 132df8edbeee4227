#include "graph/rewriting.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace lathe {
namespace {

bool is_byte(DType dtype) { return dtype == DType::i8 || dtype == DType::u8; }

// Of which one at least is one number.
std::optional<BroadcastNumbers> sum_of(BroadcastNumbers a, BroadcastNumbers b) {
  if (b.values.size() > 1) std::swap(a, b);
  if (b.values.size() > 1) return std::nullopt;
  for (double& value : a.values) value += b.values[0];
  return a;
}

}  // namespace

std::optional<double> single(const BroadcastNumbers& numbers) {
  return numbers.values.size() == 1 ? std::optional(numbers.values[0]) : std::nullopt;
}

Rewriting::Rewriting(const Graph& graph) : graph_(graph), result_(graph), producers_(producers_of(graph)) {
  for (const GraphTensor& tensor : graph.tensors) names_.insert(tensor.name);
  result_.nodes.clear();
}

const GraphNode* Rewriting::any_producer(TensorId id) const {
  if (id >= producers_.size()) return nullptr;  // of the new graph alone
  const int n = producers_[id];
  return n < 0 ? nullptr : &graph_.nodes[static_cast<size_t>(n)];
}

const GraphNode* Rewriting::zip_producer(TensorId id, ZipFunction function) const {
  const GraphNode* node = producer<ZipOp>(id);
  return node != nullptr && std::get<ZipOp>(node->op).function == function ? node : nullptr;
}

std::optional<BroadcastNumbers> Rewriting::numbers_of(TensorId id) const {
  const Shape& shape = type_of(id).shape;
  if (const GraphNode* view = producer<ReshapeOp>(id)) id = view->inputs[0];
  if (!graph_.tensors[id].is_constant()) return std::nullopt;
  return BroadcastNumbers{shape, values_of(graph_.tensors[id])};
}

std::optional<Dequantized> Rewriting::scaled_integers(TensorId id) const {
  const GraphNode* scaled = zip_producer(id, ZipFunction::mul);
  if (scaled == nullptr) return std::nullopt;
  const std::optional<BroadcastNumbers> scale = numbers_of(scaled->inputs[1]);
  const GraphNode* real = producer<CastOp>(scaled->inputs[0]);
  if (!scale || type_of(id).dtype != DType::f32 || real == nullptr) return std::nullopt;
  Dequantized result{real->inputs[0], std::nullopt, *scale};
  while (const GraphNode* difference = zip_producer(result.numbers, ZipFunction::sub)) {
    const std::optional<BroadcastNumbers> less = numbers_of(difference->inputs[1]);
    if (!less || type_of(result.numbers).dtype != DType::i32) return std::nullopt;
    result.zero = result.zero ? sum_of(*result.zero, *less) : less;
    if (!result.zero) return std::nullopt;
    result.numbers = difference->inputs[0];
  }
  const auto is_zero = [](double value) { return value == 0; };
  if (result.zero && std::ranges::all_of(result.zero->values, is_zero)) result.zero.reset();
  const GraphNode* wide = producer<CastOp>(result.numbers);
  if (wide != nullptr && type_of(result.numbers).dtype == DType::i32) result.numbers = wide->inputs[0];
  const bool is_whole = type_of(result.numbers).shape == type_of(id).shape;
  return is_whole && !is_float(type_of(result.numbers).dtype) ? std::optional(result) : std::nullopt;
}

std::optional<Dequantized> Rewriting::dequantized(TensorId id) const {
  const std::optional<Dequantized> result = scaled_integers(id);
  return result && narrow_type(result->numbers) ? result : std::nullopt;
}

std::optional<DType> Rewriting::narrow_type(TensorId id) const {
  const DType dtype = type_of(id).dtype;
  if (is_byte(dtype)) return dtype;
  if (dtype != DType::i32 || !graph_.tensors[id].is_constant()) return std::nullopt;
  const std::vector<double> values = values_of(graph_.tensors[id]);
  const auto [least, most] = std::ranges::minmax(values);
  if (least >= -128 && most <= 127) return DType::i8;
  return least >= 0 && most <= 255 ? std::optional(DType::u8) : std::nullopt;
}

std::string Rewriting::fresh(const std::string& base) {
  std::string name = base + ".integer";
  for (int n = 1; !names_.insert(name).second; ++n) name = fmt::format("{}.integer{}", base, n);
  return name;
}

TensorId Rewriting::constant(const std::string& base, DType dtype, const Shape& shape,
                             const std::vector<double>& values) {
  result_.tensors.push_back({fresh(base), {dtype, shape}, to_bytes(dtype, values)});
  return result_.tensors.size() - 1;
}

TensorId Rewriting::add(const GraphNode& origin, GraphOp op, std::vector<TensorId> inputs) {
  GraphNode node{fresh(origin.name), std::move(op), std::move(inputs), result_.tensors.size()};
  std::vector<TensorType> types;
  for (const TensorId id : node.inputs) types.push_back(type_of(id));
  Result<TensorType> type = infer_type(node, types);
  LATHE_CHECK(type);
  result_.tensors.push_back({node.name, std::move(*type), nullptr});
  result_.nodes.push_back(std::move(node));
  return result_.tensors.size() - 1;
}

void Rewriting::finish(const GraphNode& origin) {
  GraphNode& last = result_.nodes.back();
  result_.tensors.pop_back();
  last.name = origin.name;
  last.output = origin.output;
}

}  // namespace lathe
