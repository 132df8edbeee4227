// A pass of graph/simplify.h.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "base/check.h"
#include "graph/simplify.h"

namespace lathe {
namespace {

// Half of what 8 bits hold: i8 plus so much is u8.
constexpr int64_t kHalf = 128;

// Of the sums, which hold 2^31, the half that a bias may take.
constexpr double kMostBias = 1 << 29;

// Numbers that a constant gives, of a shape that broadcasts.
struct Numbers {
  Shape shape;
  std::vector<double> values;
};

// A tensor (numbers - zero) * scale of f32: what a quantizer writes between integers of 8 bits.
struct Dequantized {
  TensorId numbers = 0;
  std::optional<Numbers> zero;  // none where it is 0
  Numbers scale;
};

bool is_narrow(DType dtype) { return dtype == DType::i8 || dtype == DType::u8; }

bool all_zero(const std::vector<double>& values) {
  return std::ranges::all_of(values, [](double value) { return value == 0; });
}

// A graph that is written anew, node by node, with others between them.
class Rewriting {
 public:
  explicit Rewriting(const Graph& graph) : graph_(graph), result_(graph), producers_(producers_of(graph)) {
    for (const GraphTensor& tensor : graph.tensors) names_.insert(tensor.name);
    result_.nodes.clear();
  }

 protected:
  // The node that gives a tensor, as it was, if its operator is of this kind.
  template <class Op>
  const GraphNode* producer(TensorId id) const {
    const int n = producers_[id];
    if (n < 0) return nullptr;
    const GraphNode& node = graph_.nodes[static_cast<size_t>(n)];
    return std::holds_alternative<Op>(node.op) ? &node : nullptr;
  }
  const TensorType& type_of(TensorId id) const { return result_.tensors[id].type; }

  std::string fresh(const std::string& base) {
    std::string name = base + ".integer";
    for (int n = 1; !names_.insert(name).second; ++n) name = fmt::format("{}.integer{}", base, n);
    return name;
  }
  TensorId constant(const std::string& base, DType dtype, const Shape& shape,
                    const std::vector<double>& values) {
    result_.tensors.push_back({fresh(base), {dtype, shape}, to_bytes(dtype, values)});
    return result_.tensors.size() - 1;
  }
  TensorId add(const GraphNode& origin, GraphOp op, std::vector<TensorId> inputs) {
    GraphNode node{fresh(origin.name), std::move(op), std::move(inputs), result_.tensors.size()};
    std::vector<TensorType> types;
    for (const TensorId id : node.inputs) types.push_back(type_of(id));
    Result<TensorType> type = infer_type(node, types);
    LATHE_CHECK(type);
    result_.tensors.push_back({node.name, std::move(*type), nullptr});
    result_.nodes.push_back(std::move(node));
    return result_.tensors.size() - 1;
  }
  TensorId zip(const GraphNode& origin, ZipFunction function, TensorId a, TensorId b) {
    return add(origin, ZipOp{function}, {a, b});
  }
  // The last node added gives what the original one gave, under its name.
  void finish(const GraphNode& origin) {
    GraphNode& last = result_.nodes.back();
    result_.tensors.pop_back();
    last.name = origin.name;
    last.output = origin.output;
  }

  const Graph& graph_;
  Graph result_;
  std::vector<int> producers_;  // in `graph_`

 private:
  std::set<std::string> names_;
};

// Numbers of i8 that are rounded reals, and read as numbers of i32 alone, become u8, by 128 more: machines
// multiply u8 by i8.
class UnsignedNumbers : Rewriting {
 public:
  explicit UnsignedNumbers(const Graph& graph) : Rewriting(graph), consumers_(consumers_of(graph)) {}

  Graph run() {
    for (const GraphNode& node : graph_.nodes) {
      const auto* cast = std::get_if<CastOp>(&node.op);
      if (cast != nullptr && is_raised(node)) {
        const TensorId half = constant(node.name, DType::f32, {}, {kHalf});
        raised_[node.output] =
            add(node, CastOp{DType::u8}, {zip(node, ZipFunction::add, node.inputs[0], half)});
      } else if (cast != nullptr && raised_.contains(node.inputs[0])) {
        const TensorId wide = add(node, CastOp{DType::i32}, {raised_.at(node.inputs[0])});
        zip(node, ZipFunction::sub, wide, constant(node.name, DType::i32, {}, {kHalf}));
        finish(node);
      } else {
        result_.nodes.push_back(node);
      }
    }
    return std::move(result_);
  }

 private:
  bool is_raised(const GraphNode& cast) const {
    const bool rounds = type_of(cast.output).dtype == DType::i8 && is_whole(cast.inputs[0]);
    const auto widens = [&](size_t reader) {
      const auto* wider = std::get_if<CastOp>(&graph_.nodes[reader].op);
      return wider != nullptr && wider->to == DType::i32;
    };
    return rounds && !is_output(graph_, cast.output) && std::ranges::all_of(consumers_[cast.output], widens);
  }

  // Whether a tensor of f32 is a rounded one, or that and a constant of whole numbers.
  bool is_whole(TensorId id) const {
    if (const GraphNode* sum = producer<ZipOp>(id)) {
      const GraphTensor& shift = graph_.tensors[sum->inputs[1]];
      const bool adds = std::get<ZipOp>(sum->op).function == ZipFunction::add && shift.is_constant();
      const auto is_whole_number = [](double value) { return value == std::round(value); };
      if (!adds || !std::ranges::all_of(values_of(shift), is_whole_number)) return false;
      id = sum->inputs[0];
    }
    const GraphNode* rounding = producer<MapOp>(id);
    return rounding != nullptr && std::get<MapOp>(rounding->op).function == MapFunction::round;
  }

  std::vector<std::vector<size_t>> consumers_;
  std::map<TensorId, TensorId> raised_;  // of each of them its u8
};

class IntegerProducts : Rewriting {
 public:
  explicit IntegerProducts(const Graph& graph) : Rewriting(graph), consumers_(consumers_of(graph)) {}

  Graph run() {
    for (const GraphNode& node : graph_.nodes) {
      const bool is_rewritten = std::visit([&](const auto& op) { return rewrite(op, node); }, node.op);
      if (!is_rewritten) result_.nodes.push_back(node);
      if (undivided_.contains(node.output)) {
        result_.nodes.back().op = IdentityOp{};
        result_.nodes.back().inputs.resize(1);
      }
    }
    return std::move(result_);
  }

 private:
  template <class Op>
  bool rewrite(const Op&, const GraphNode&) {
    return false;
  }

  const GraphNode* zip_producer(TensorId id, ZipFunction function) const {
    const GraphNode* node = producer<ZipOp>(id);
    return node != nullptr && std::get<ZipOp>(node->op).function == function ? node : nullptr;
  }

  // A constant, or one in another shape.
  std::optional<Numbers> numbers_of(TensorId id) const {
    const Shape& shape = type_of(id).shape;
    if (const GraphNode* view = producer<ReshapeOp>(id)) id = view->inputs[0];
    if (!graph_.tensors[id].is_constant()) return std::nullopt;
    return Numbers{shape, values_of(graph_.tensors[id])};
  }

  // Whether a tensor is made from integers of 8 bits by a scale and perhaps a zero point that are constants.
  std::optional<Dequantized> dequantized(TensorId id) const {
    const GraphNode* scaled = zip_producer(id, ZipFunction::mul);
    if (scaled == nullptr) return std::nullopt;
    const std::optional<Numbers> scale = numbers_of(scaled->inputs[1]);
    const GraphNode* real = producer<CastOp>(scaled->inputs[0]);
    if (!scale || type_of(id).dtype != DType::f32 || real == nullptr) return std::nullopt;
    Dequantized result{real->inputs[0], std::nullopt, *scale};
    while (const GraphNode* difference = zip_producer(result.numbers, ZipFunction::sub)) {
      const std::optional<Numbers> less = numbers_of(difference->inputs[1]);
      if (!less || type_of(result.numbers).dtype != DType::i32) return std::nullopt;
      result.zero = result.zero ? sum(*result.zero, *less) : less;
      if (!result.zero) return std::nullopt;
      result.numbers = difference->inputs[0];
    }
    if (result.zero && all_zero(result.zero->values)) result.zero.reset();
    const GraphNode* wide = producer<CastOp>(result.numbers);
    if (wide != nullptr && type_of(result.numbers).dtype == DType::i32) result.numbers = wide->inputs[0];
    const bool is_whole = type_of(result.numbers).shape == type_of(id).shape;
    return is_whole && narrow_type(result.numbers) ? std::optional(result) : std::nullopt;
  }

  // Of which one at least is one number.
  static std::optional<Numbers> sum(Numbers a, Numbers b) {
    if (b.values.size() > 1) std::swap(a, b);
    if (b.values.size() > 1) return std::nullopt;
    for (double& value : a.values) value += b.values[0];
    return a;
  }

  // The type of 8 bits that the numbers have, or, of a constant, that holds them all: where the model was
  // read, weights became differences to their zero points.
  std::optional<DType> narrow_type(TensorId id) const {
    const DType dtype = type_of(id).dtype;
    if (is_narrow(dtype)) return dtype;
    if (dtype != DType::i32 || !graph_.tensors[id].is_constant()) return std::nullopt;
    const std::vector<double> values = values_of(graph_.tensors[id]);
    const auto [least, most] = std::ranges::minmax(values);
    if (least >= -128 && most <= 127) return DType::i8;
    return least >= 0 && most <= 255 ? std::optional(DType::u8) : std::nullopt;
  }
  // In that type.
  TensorId narrow(TensorId id) {
    const DType dtype = *narrow_type(id);
    if (type_of(id).dtype == dtype) return id;
    const auto known = narrowed_.find(id);
    if (known != narrowed_.end()) return known->second;
    const GraphTensor& tensor = graph_.tensors[id];
    return narrowed_[id] = constant(tensor.name, dtype, tensor.type.shape, values_of(tensor));
  }

  // Its one number; none where it has several.
  static std::optional<double> single(const Numbers& numbers) {
    return numbers.values.size() == 1 ? std::optional(numbers.values[0]) : std::nullopt;
  }
  // The zero point, where it is one number that is one of the numbers' type.
  std::optional<double> single_zero(const Dequantized& operand) const {
    if (!operand.zero) return 0.0;
    const std::optional<double> zero = single(*operand.zero);
    const double least = *narrow_type(operand.numbers) == DType::i8 ? -128 : 0;
    return zero && *zero >= least && *zero <= least + 255 ? zero : std::nullopt;
  }
  // Of numbers of which there is one for each place of the axis of a tensor of that rank, or one for all: as
  // many as the axis has places.
  static std::optional<std::vector<double>> along(const Numbers& numbers, size_t axis, size_t rank,
                                                  int64_t places) {
    if (const auto one = single(numbers)) return std::vector(static_cast<size_t>(places), *one);
    const size_t behind = rank - 1 - axis;
    if (numbers.shape.size() <= behind || numbers.shape.size() > rank) return std::nullopt;
    const size_t own = numbers.shape.size() - 1 - behind;
    if (numbers.shape[own] != places || elements_of(numbers.shape) != places) return std::nullopt;
    return numbers.values;
  }

  // Whether sums of so many products, and what zero points come to, cannot pass 2^31.
  static bool sums_fit(int64_t terms) {
    constexpr int64_t kMostProduct = 255 * 255;
    return terms <= std::numeric_limits<int32_t>::max() / kMostProduct / 2;
  }

  // The sums times their factors, which broadcast in that shape, and what is added to that. Where a number
  // then divides it, to be rounded, the factors are divided instead, as in ONNX Runtime's products of
  // integers: results that lie halfway between two numbers so become the same ones.
  void scale(const GraphNode& origin, TensorId sums, const Shape& shape, std::vector<double> factors,
             std::span<const TensorId> bias) {
    if (bias.empty()) {
      if (const auto divisor = divisor_behind(origin.output)) {
        for (double& factor : factors) factor = in_f32(factor / *divisor);
      }
    }
    const TensorId real = add(origin, CastOp{DType::f32}, {sums});
    const TensorId product =
        zip(origin, ZipFunction::mul, real, constant(origin.name, DType::f32, shape, factors));
    if (!bias.empty()) zip(origin, ZipFunction::add, product, bias[0]);
    finish(origin);
  }

  static double in_f32(double value) { return static_cast<double>(static_cast<float>(value)); }
  static std::vector<double> products_in_f32(double scale, const std::vector<double>& scales) {
    std::vector<double> products;
    for (const double other : scales) products.push_back(in_f32(scale * other));
    return products;
  }

  // The number by which a tensor is divided, and no other node reads it but a rectifier before; the division
  // is left out then.
  std::optional<double> divisor_behind(TensorId id) {
    for (;;) {
      if (is_output(graph_, id) || consumers_[id].size() != 1) return std::nullopt;
      const GraphNode& reader = graph_.nodes[consumers_[id][0]];
      const auto* map = std::get_if<MapOp>(&reader.op);
      const auto* zip = std::get_if<ZipOp>(&reader.op);
      if (zip != nullptr && zip->function == ZipFunction::div && reader.inputs[0] == id) {
        const auto divisor = numbers_of(reader.inputs[1]);
        if (!divisor || divisor->values.size() != 1 || divisor->values[0] <= 0) return std::nullopt;
        if (is_output(graph_, reader.output) || type_of(reader.output).shape != type_of(id).shape)
          return std::nullopt;
        undivided_.insert(reader.output);
        return divisor->values[0];
      }
      if (map == nullptr || map->function != MapFunction::relu) return std::nullopt;
      id = reader.output;
    }
  }

  // A bias as whole multiples of the factors, which quantizers make it, along an axis of so many places.
  std::optional<std::vector<double>> whole_bias(TensorId id, const std::vector<double>& factors) const {
    std::optional<Numbers> bias = numbers_of(id);
    if (const GraphNode* scaled = zip_producer(id, ZipFunction::mul)) {
      const GraphNode* real = producer<CastOp>(scaled->inputs[0]);
      bias = real == nullptr ? std::nullopt : numbers_of(real->inputs[0]);
      const auto scale = numbers_of(scaled->inputs[1]);
      if (!bias || !scale) return std::nullopt;
      if (scale->values.size() != 1 && scale->values.size() != bias->values.size()) return std::nullopt;
      for (size_t i = 0; i < bias->values.size(); ++i)
        bias->values[i] = in_f32(in_f32(bias->values[i]) * scale->values[scale->values.size() == 1 ? 0 : i]);
    }
    // One for each place of the last axis, whatever axes of one place are before it.
    const auto places = static_cast<int64_t>(factors.size());
    if (!bias || bias->shape.empty() || bias->shape.back() != places || std::ssize(bias->values) != places)
      return std::nullopt;
    std::vector<double> multiples;
    for (size_t i = 0; i < factors.size(); ++i) {
      const double multiple = std::round(bias->values[i] / factors[i]);
      if (std::abs(multiple) > kMostBias || in_f32(in_f32(multiple) * factors[i]) != bias->values[i])
        return std::nullopt;
      multiples.push_back(multiple);
    }
    return multiples;
  }

  bool rewrite(const ConvOp& op, const GraphNode& node) {
    const auto x = dequantized(node.inputs[0]), w = dequantized(node.inputs[1]);
    if (!x || !w || w->zero || !graph_.tensors[w->numbers].is_constant()) return false;
    const std::optional<double> data_scale = single(x->scale), zero = single_zero(*x);
    const Shape& weight = type_of(w->numbers).shape;
    const size_t rank = weight.size();
    const int64_t maps = weight[0];
    const auto scales = along(w->scale, 0, rank, maps);
    const int64_t terms = elements_of(weight) / maps;
    if (!data_scale || !zero || !scales || !sums_fit(terms)) return false;
    ConvOp conv = op;
    std::vector<TensorId> reads{padded(node, narrow(x->numbers), *zero, conv.window), narrow(w->numbers)};
    const std::vector<double> factors = products_in_f32(*data_scale, *scales);
    const bool has_bias = node.inputs.size() > 2;
    const auto whole = has_bias ? whole_bias(node.inputs[2], factors) : std::nullopt;
    std::vector<double> shifts = whole.value_or(std::vector<double>(static_cast<size_t>(maps), 0));
    const std::vector<double> values = values_of(graph_.tensors[w->numbers]);
    for (size_t i = 0; i < values.size(); ++i) shifts[i / static_cast<size_t>(terms)] -= *zero * values[i];
    if (!all_zero(shifts)) reads.push_back(constant(node.name, DType::i32, {maps}, shifts));
    const TensorId sums = add(node, conv, reads);
    Shape of_maps(rank - 1, 1);
    of_maps[0] = maps;
    std::vector<TensorId> bias;
    if (has_bias && !whole) bias = {add(node, ReshapeOp{of_maps}, {node.inputs[2]})};
    scale(node, sums, of_maps, factors, bias);
    return true;
  }

  // Data beside the image stand for 0.
  TensorId padded(const GraphNode& origin, TensorId x, double zero, SlidingWindow& window) {
    const auto is_padded = [](int64_t pad) { return pad != 0; };
    if (zero == 0 || (std::ranges::none_of(window.pads_before, is_padded) &&
                      std::ranges::none_of(window.pads_after, is_padded)))
      return x;
    PadOp pad{{0, 0}, {0, 0}, PadMode::constant, zero};
    pad.before.insert(pad.before.end(), window.pads_before.begin(), window.pads_before.end());
    pad.after.insert(pad.after.end(), window.pads_after.begin(), window.pads_after.end());
    std::ranges::fill(window.pads_before, 0);
    std::ranges::fill(window.pads_after, 0);
    return add(origin, pad, {x});
  }

  // The largest number stands for the largest real.
  bool rewrite(const MaxPoolOp& op, const GraphNode& node) {
    const auto x = dequantized(node.inputs[0]);
    if (!x || x->zero.value_or(x->scale).values.size() > 1 || x->scale.values.size() > 1) return false;
    if (x->scale.values[0] <= 0) return false;
    TensorId numbers = add(node, CastOp{DType::i32}, {add(node, op, {x->numbers})});
    if (x->zero) {
      numbers = zip(node, ZipFunction::sub, numbers, constant(node.name, DType::i32, {}, x->zero->values));
    }
    scale(node, numbers, {}, x->scale.values, {});
    return true;
  }

  bool rewrite(const MatMulOp&, const GraphNode& node) {
    const size_t least = std::min(type_of(node.inputs[0]).shape.size(), type_of(node.inputs[1]).shape.size());
    return least >= 2 && rewrite_product(node, {}, {});
  }

  bool rewrite(const GemmOp& op, const GraphNode& node) {
    if (node.inputs.size() > 2 && op.beta != 1) return false;
    return rewrite_product(node, op, std::span(node.inputs).subspan(2));
  }

  TensorId turned(const GraphNode& origin, TensorId matrix, bool turns) {
    return turns ? add(origin, TransposeOp{{1, 0}}, {matrix}) : matrix;
  }

  // sum (a - p) (b - q) = sum a b - p sum (b - q) - q sum a, of matrices turned as the Gemm says, times its
  // alpha.
  bool rewrite_product(const GraphNode& node, const GemmOp& gemm, std::span<const TensorId> bias) {
    const auto a = dequantized(node.inputs[0]), b = dequantized(node.inputs[1]);
    if (!a || !b) return false;
    const Shape& shape = type_of(b->numbers).shape;
    const size_t rank = shape.size();
    const size_t columns = gemm.transpose_b ? rank - 2 : rank - 1;
    const int64_t terms = shape[2 * rank - 3 - columns];
    const std::optional<double> data_scale = single(a->scale), p = single_zero(*a), q = single_zero(*b);
    const auto scales = along(b->scale, columns, rank, shape[columns]);
    if (!data_scale || !p || !q || !scales || !sums_fit(terms)) return false;
    const TensorId left = turned(node, narrow(a->numbers), gemm.transpose_a);
    const TensorId right = turned(node, narrow(b->numbers), gemm.transpose_b);
    TensorId sums = add(node, MatMulOp{}, {left, right});
    const auto subtract = [&](TensorId numbers, size_t axis, double shift, double factor) {
      const TensorId total =
          add(node, ReduceOp{ReduceFunction::sum, {axis}, true}, {add(node, CastOp{DType::i32}, {numbers})});
      const TensorId centred =
          zip(node, ZipFunction::sub, total, constant(node.name, DType::i32, {}, {shift}));
      sums = zip(node, ZipFunction::sub, sums,
                 zip(node, ZipFunction::mul, centred, constant(node.name, DType::i32, {}, {factor})));
    };
    if (*p != 0) subtract(right, rank - 2, static_cast<double>(terms) * *q, *p);
    if (*q != 0) subtract(left, type_of(left).shape.size() - 1, 0, *q);
    std::vector<double> factors = products_in_f32(in_f32(*data_scale * gemm.alpha), *scales);
    const auto whole = bias.empty() ? std::nullopt : whole_bias(bias[0], factors);
    if (whole) {
      sums = zip(node, ZipFunction::add, sums,
                 constant(node.name, DType::i32, {type_of(right).shape.back()}, *whole));
      bias = {};
    }
    const bool is_one = single(b->scale).has_value();
    if (is_one) factors.resize(1);
    scale(node, sums, is_one ? Shape{} : Shape{type_of(right).shape.back()}, factors, bias);
    return true;
  }

  std::vector<std::vector<size_t>> consumers_;
  std::map<TensorId, TensorId> narrowed_;  // constants in the types that they need
  std::set<TensorId> undivided_;           // quotients that are what they divide by now
};

}  // namespace

Graph integer_products(const Graph& graph) { return IntegerProducts(UnsignedNumbers(graph).run()).run(); }

}  // namespace lathe
