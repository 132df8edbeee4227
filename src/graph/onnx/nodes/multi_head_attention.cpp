#include "graph/onnx/nodes/multi_head_attention.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numeric>
#include <optional>

#include "graph/onnx/nodes/head_steps.h"
#include "graph/onnx/nodes/product_steps.h"

namespace lathe {
namespace {

constexpr double kMasked = -10000;  // unless the node says otherwise

// What both nodes say of heads and masks.
struct AttentionOptions {
  int64_t batch = 0, heads = 0, queries = 0;
  bool is_causal = false;
  double scale = 0;  // 0: one over the root of a head's size
  double masked = kMasked;
};

Result<AttentionOptions> read_options(OnnxNode& node) {
  if (node.shape(0).size() != 3) {
    return fail(ErrorKind::unsupported,
                fmt::format("input 0 has shape {}, and Lathe supports [N, places, heads x size]",
                            to_string(node.shape(0))));
  }
  AttentionOptions result;
  result.batch = node.shape(0)[0];
  result.queries = node.shape(0)[1];
  result.heads = node.integer("num_heads", 0);
  result.is_causal = node.integer("unidirectional", 0) != 0;
  result.scale = node.real("scale", 0);
  result.masked = node.real("mask_filter_value", kMasked);
  if (result.heads > 0) return result;
  return fail(ErrorKind::invalid_argument, "attribute 'num_heads' is missing or below 1");
}

// The steps of either node.
class MultiHeadSteps {
 public:
  MultiHeadSteps(const OnnxNode& node, const AttentionOptions& options)
      : node_(node), options_(options), heads_(node.input_count(), options.batch) {}

  const AttentionOptions& options() const { return options_; }
  HeadSteps& heads() { return heads_; }
  StepList& steps() { return heads_.steps(); }

  // The numbers from `first` on along an axis of a tensor of that shape.
  size_t part(size_t x, const Shape& shape, size_t axis, int64_t first, int64_t count) {
    SliceOp op{Shape(shape.size(), 0), Shape(shape.size(), 1), shape};
    op.starts[axis] = first;
    op.extents[axis] = count;
    return steps().add(op, {x});
  }

  Result<Headed> split(size_t x, int64_t places, int64_t width) {
    return heads_.split(x, options_.heads, places, width);
  }

  // [N, places, heads x size] of what the queries find in the values; `mask` and `product_bias` are operands.
  Result<size_t> attend(const Headed& query, const Headed& key, const Headed& value, size_t mask,
                        size_t product_bias) {
    const double root = std::sqrt(static_cast<double>(query.size));
    size_t products = heads_.products(query, key, options_.scale > 0 ? options_.scale : 1 / root);
    std::optional<size_t> bias;
    if (node_.has_input(mask)) {
      LATHE_TRY(bias, bias_of_mask(mask, key.places));
    }
    if (node_.has_input(product_bias))
      bias = bias ? heads_.zip(ZipFunction::add, *bias, product_bias) : product_bias;
    if (bias) products = heads_.zip(ZipFunction::add, products, *bias);
    if (options_.is_causal)
      products = heads_.zip(ZipFunction::add, products, causal_bias(query.places, key.places));
    return heads_.join(heads_.mix(heads_.weights(products), query, value));
  }

 private:
  // What is added to the products where a mask of integers keeps queries from keys: 1 where it does not, or
  // how many keys of a batch count.
  Result<size_t> bias_of_mask(size_t mask, int64_t keys) {
    const Shape& shape = node_.shape(mask);
    size_t is_kept = 0;
    Shape placed;
    if (shape == Shape{options_.batch}) {
      Shape numbers(static_cast<size_t>(keys));
      std::iota(numbers.begin(), numbers.end(), int64_t{0});
      const size_t places = steps().constant(DType::i32, {keys}, {numbers.begin(), numbers.end()});
      const size_t lengths = steps().add(ReshapeOp{{options_.batch, 1, 1, 1}}, {number(mask)});
      is_kept = heads_.zip(ZipFunction::less, places, lengths);
    } else {
      if (shape == Shape{options_.batch, keys}) placed = {options_.batch, 1, 1, keys};
      if (shape == Shape{options_.batch, options_.queries, keys})
        placed = {options_.batch, 1, options_.queries, keys};
      if (placed.empty()) {
        return fail(ErrorKind::unsupported,
                    fmt::format("its mask has shape {}, and Lathe supports [N], [N, keys] and [N, queries, "
                                "keys], here with {} keys",
                                to_string(shape), keys));
      }
      const size_t kept = steps().add(ReshapeOp{placed}, {number(mask)});
      is_kept = heads_.zip(ZipFunction::less, steps().constant(DType::i32, {}, {0}), kept);
    }
    return steps().add(WhereOp{}, {is_kept, steps().real(0), steps().real(options_.masked)});
  }

  size_t number(size_t mask) {
    return node_.type(mask).dtype == DType::i32 ? mask : steps().add(CastOp{DType::i32}, {mask});
  }

  // The last query stands at the last key.
  size_t causal_bias(int64_t queries, int64_t keys) {
    return heads_.by_places(queries, keys, [&](int64_t query, int64_t key) {
      return key > query + keys - queries ? kUnseen : 0;
    });
  }

  const OnnxNode& node_;
  const AttentionOptions& options_;
  HeadSteps heads_;
};

// The inputs of MultiHeadAttention.
struct HeadInput {
  static constexpr size_t kQuery = 0, kKey = 1, kValue = 2, kBias = 3, kMask = 4, kProductBias = 5,
                          kPastKey = 6, kPastValue = 7;
};

// Queries, keys or values: operand `input`, with its part of the bias, which starts at `first`.
Result<Headed> headed_input(MultiHeadSteps& attention, const OnnxNode& node, size_t input, int64_t first) {
  const Shape& shape = node.shape(input);
  const int64_t heads = attention.options().heads;
  if (shape.size() == 4 && shape[1] == heads) return Headed{input, heads, shape[2], shape[3]};
  if (shape.size() != 3) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("input {} has shape {}, and must have 3 axes, or 4 with its {} heads", input,
                            to_string(shape), heads));
  }
  size_t x = input;
  if (node.has_input(HeadInput::kBias)) {
    const Shape& biases = node.shape(HeadInput::kBias);
    x = attention.heads().zip(ZipFunction::add, x,
                              attention.part(HeadInput::kBias, biases, 0, first, shape[2]));
  }
  return attention.split(x, shape[1], shape[2]);
}

// The inputs of a node whose queries, keys and values are parts of one product.
struct PackedInputs {
  size_t mask = 0, past = 0, added = 0;
};

// The widths of queries, keys and values among the columns of the weights.
Result<Shape> packed_widths(OnnxNode& node) {
  const Shape &input = node.shape(0), &weights = node.shape(1);
  Shape widths = node.integers("qkv_hidden_sizes", {});
  if (widths.empty() && weights.size() == 2) widths = Shape(3, weights[1] / 3);
  if (weights.size() != 2 || weights[0] != input[2] || widths.size() != 3 ||
      widths[0] + widths[1] + widths[2] != weights[1]) {
    return fail(ErrorKind::invalid_argument, fmt::format("its input {} and weights {} do not fit together",
                                                         to_string(input), to_string(weights)));
  }
  return widths;
}

// `product`: a step [N, places, all widths].
ImportedOutputs attend_packed(MultiHeadSteps& attention, const OnnxNode& node, size_t product,
                              const Shape& widths, const PackedInputs& inputs) {
  StepList& steps = attention.steps();
  const AttentionOptions& options = attention.options();
  const Shape& input = node.shape(0);
  const Shape whole{input[0], input[1], widths[0] + widths[1] + widths[2]};
  std::array<Headed, 3> parts;  // queries, keys, values
  for (int64_t first = 0, i = 0; i < 3; first += widths[static_cast<size_t>(i)], ++i) {
    const auto which = static_cast<size_t>(i);
    LATHE_TRY(parts.at(which), attention.split(attention.part(product, whole, 2, first, widths[which]),
                                               input[1], widths[which]));
  }
  if (node.has_input(inputs.past)) {
    const Shape& past = node.shape(inputs.past);  // [2, N, heads, places, size]
    if (past.size() != 5 || past[0] != 2)
      return fail(ErrorKind::invalid_argument, fmt::format("its past has shape {}", to_string(past)));
    for (const int64_t which : {0, 1}) {
      const size_t half = attention.part(inputs.past, past, 0, which, 1);
      const size_t before = steps.add(ReshapeOp{{past[1], past[2], past[3], past[4]}}, {half});
      attention.heads().put_before(parts.at(static_cast<size_t>(which) + 1), before, past[3]);
    }
  }
  const auto& [query, key, value] = parts;
  LATHE_TRY(const size_t result, attention.attend(query, key, value, inputs.mask, inputs.added));
  if (node.output_count() < 2) return attention.heads().outputs(std::array{result});
  const auto lifted = [&](const Headed& x) {
    return steps.add(ReshapeOp{{1, options.batch, options.heads, x.places, x.size}}, {x.step});
  };
  const size_t present = steps.add(ConcatOp{0}, {lifted(key), lifted(value)});
  return attention.heads().outputs(std::array{result, present});
}

}  // namespace

ImportedOutputs import_multi_head_attention(OnnxNode& node) {
  for (const size_t input : {HeadInput::kKey, HeadInput::kValue}) {
    if (!node.has_input(input))
      return fail(ErrorKind::unsupported, "queries, keys and values are one input, and Lathe supports three");
  }
  LATHE_TRY(const AttentionOptions options, read_options(node));
  MultiHeadSteps attention(node, options);
  const int64_t width = node.shape(HeadInput::kQuery).back();
  LATHE_TRY(const Headed query, headed_input(attention, node, HeadInput::kQuery, 0));
  LATHE_TRY(Headed key, headed_input(attention, node, HeadInput::kKey, width));
  LATHE_TRY(Headed value, headed_input(attention, node, HeadInput::kValue, 2 * width));
  if (node.has_input(HeadInput::kPastKey) && node.has_input(HeadInput::kPastValue)) {
    if (node.shape(HeadInput::kPastKey).size() != 4)
      return fail(ErrorKind::invalid_argument, "its past keys have not four axes");
    const int64_t past = node.shape(HeadInput::kPastKey)[2];
    attention.heads().put_before(key, HeadInput::kPastKey, past);
    attention.heads().put_before(value, HeadInput::kPastValue, past);
  }
  LATHE_TRY(const size_t result,
            attention.attend(query, key, value, HeadInput::kMask, HeadInput::kProductBias));
  return attention.heads().outputs(std::array{result, key.step, value.step});
}

ImportedOutputs import_packed_attention(OnnxNode& node) {
  constexpr size_t kInput = 0, kWeights = 1, kBiases = 2;
  LATHE_TRY_STATUS(node.require_inputs({kInput, kWeights}));
  LATHE_TRY_STATUS(require_attribute("do_rotary", static_cast<double>(node.integer("do_rotary", 0)), 0));
  LATHE_TRY(const AttentionOptions options, read_options(node));
  LATHE_TRY(const Shape widths, packed_widths(node));
  MultiHeadSteps attention(node, options);
  size_t product = attention.steps().add(MatMulOp{}, {kInput, kWeights});
  if (node.has_input(kBiases)) product = attention.heads().zip(ZipFunction::add, product, kBiases);
  return attend_packed(attention, node, product, widths, {3, 4, 5});
}

ImportedOutputs import_quantized_attention(OnnxNode& node) {
  constexpr size_t kBiases = 2, kNothing = 9;
  const QuantizedInput x{0, 3, 6}, weights{1, 4, 7};
  LATHE_TRY_STATUS(node.require_inputs({x.numbers, weights.numbers, kBiases, x.scale, weights.scale}));
  LATHE_TRY_STATUS(require_narrow(node, {x.numbers, weights.numbers}));
  LATHE_TRY_STATUS(require_attribute("do_rotary", static_cast<double>(node.integer("do_rotary", 0)), 0));
  LATHE_TRY(const AttentionOptions options, read_options(node));
  LATHE_TRY(const Shape widths, packed_widths(node));
  MultiHeadSteps attention(node, options);
  ProductSteps steps(node, attention.steps());
  const size_t sums = steps.product(factor_of(node, x), factor_of(node, weights));
  const size_t factors =
      steps.zip(ZipFunction::mul, steps.placed(x.scale, 0), steps.placed(weights.scale, 0));
  const size_t numbers = steps.zip(ZipFunction::mul, steps.cast(DType::f32, sums), factors);
  const size_t product = steps.zip(ZipFunction::add, numbers, kBiases);
  return attend_packed(attention, node, product, widths, {5, 8, kNothing});
}

}  // namespace lathe
