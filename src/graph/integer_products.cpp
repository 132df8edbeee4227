// A pass of graph/simplify.h.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "graph/rewriting.h"
#include "graph/simplify.h"

namespace lathe {
namespace {

// Half of what 8 bits hold: i8 plus so much is u8.
constexpr int64_t kHalf = 128;

// Of the sums, which hold 2^31, the half that a bias may take.
constexpr double kMostBias = 1 << 29;

bool all_zero(const std::vector<double>& values) {
  return std::ranges::all_of(values, [](double value) { return value == 0; });
}

// Numbers of i8 that are rounded reals, and read as numbers of i32 alone, become u8, by 128 more: machines
// multiply u8 by i8.
class UnsignedNumbers : Rewriting {
 public:
  explicit UnsignedNumbers(const Graph& graph) : Rewriting(graph), consumers_(consumers_of(graph)) {}

  Graph run() {
    for (const GraphNode& node : graph_.nodes) {
      const auto* cast = std::get_if<CastOp>(&node.op);
      if (cast != nullptr && is_raised(node)) {
        raised_[node.output] = add(node, CastOp{DType::u8}, {by_half_more(node)});
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
  // What is cast, and half of what 8 bits hold more: where a zero point was added, both at once.
  TensorId by_half_more(const GraphNode& cast) {
    TensorId real = cast.inputs[0];
    BroadcastNumbers more{{}, {0.0}};
    const GraphNode* sum = zip_producer(real, ZipFunction::add);
    if (sum != nullptr && type_of(sum->inputs[0]).shape == type_of(real).shape) {
      if (const auto zero = numbers_of(sum->inputs[1])) {
        real = sum->inputs[0];
        more = *zero;
      }
    }
    for (double& number : more.values) number += kHalf;
    if (all_zero(more.values)) return real;
    return zip(cast, ZipFunction::add, real, constant(cast.name, DType::f32, more.shape, more.values));
  }

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

  // In that type.
  TensorId narrow(TensorId id) {
    const DType dtype = *narrow_type(id);
    if (type_of(id).dtype == dtype) return id;
    const auto known = narrowed_.find(id);
    if (known != narrowed_.end()) return known->second;
    const GraphTensor& tensor = graph_.tensors[id];
    return narrowed_[id] = constant(tensor.name, dtype, tensor.type.shape, values_of(tensor));
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
  static std::optional<std::vector<double>> along(const BroadcastNumbers& numbers, size_t axis, size_t rank,
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
    std::optional<BroadcastNumbers> bias = numbers_of(id);
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
    conv.beside = *zero;  // data beside the image stand for 0
    std::vector<TensorId> reads{narrow(x->numbers), narrow(w->numbers)};
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

  // What lies halfway between two numbers falls to the side that it does in ONNX Runtime.
  bool rewrite(const ResizeOp& op, const GraphNode& node) {
    const bool is_linear = op.mode == ResizeMode::linear;
    if (!is_linear || !scaled_integers(node.inputs[0]) || !resizes_images(op, type_of(node.inputs[0]).shape))
      return false;
    ResizeOp resize = op;
    resize.mode = ResizeMode::runtime_bilinear;
    add(node, resize, node.inputs);
    finish(node);
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

Graph integer_products(const Graph& graph) {
  return IntegerProducts(keep_integers(UnsignedNumbers(graph).run())).run();
}

}  // namespace lathe
