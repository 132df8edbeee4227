#include "graph/onnx/nodes/multi_head_attention.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numeric>
#include <optional>

namespace lathe {
namespace {

// Added to a product of f32 it leaves nothing of it, and is still a number.
constexpr double kUnseen = -3e38;
constexpr double kMasked = -10000;  // unless the node says otherwise

// What both nodes say of heads and masks.
struct Heads {
  int64_t batch = 0, heads = 0, queries = 0;
  bool is_causal = false;
  double scale = 0;  // 0: one over the root of a head's size
  double masked = kMasked;
};

Result<Heads> read_heads(OnnxNode& node) {
  if (node.shape(0).size() != 3) {
    return fail(ErrorKind::unsupported,
                fmt::format("input 0 has shape {}, and Lathe supports [N, places, heads x size]",
                            to_string(node.shape(0))));
  }
  Heads result;
  result.batch = node.shape(0)[0];
  result.queries = node.shape(0)[1];
  result.heads = node.integer("num_heads", 0);
  result.is_causal = node.integer("unidirectional", 0) != 0;
  result.scale = node.real("scale", 0);
  result.masked = node.real("mask_filter_value", kMasked);
  if (result.heads > 0) return result;
  return fail(ErrorKind::invalid_argument, "attribute 'num_heads' is missing or below 1");
}

// A tensor of [N, heads, places, size] among the steps.
struct Headed {
  size_t step = 0;
  int64_t places = 0, size = 0;
};

class HeadSteps {
 public:
  HeadSteps(const OnnxNode& node, const Heads& heads)
      : node_(node), heads_(heads), steps_(node.input_count()) {}

  StepList& steps() { return steps_; }
  size_t zip(ZipFunction function, size_t a, size_t b) { return steps_.add(ZipOp{function}, {a, b}); }

  // Of x [N, places, width].
  Result<Headed> with_heads(size_t x, int64_t places, int64_t width) {
    if (width % heads_.heads != 0) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("{} numbers a place do not divide among {} heads", width, heads_.heads));
    }
    const int64_t size = width / heads_.heads;
    const size_t split = steps_.add(ReshapeOp{{heads_.batch, places, heads_.heads, size}}, {x});
    return Headed{steps_.add(TransposeOp{{0, 2, 1, 3}}, {split}), places, size};
  }

  // The numbers from `first` on along an axis of a tensor of that shape.
  size_t part(size_t x, const Shape& shape, size_t axis, int64_t first, int64_t count) {
    SliceOp op{Shape(shape.size(), 0), Shape(shape.size(), 1), shape};
    op.starts[axis] = first;
    op.extents[axis] = count;
    return steps_.add(op, {x});
  }

  // Behind what was before, a step of [N, heads, past, size].
  void append(Headed& x, size_t before, int64_t past) {
    x.step = steps_.add(ConcatOp{2}, {before, x.step});
    x.places += past;
  }

  // What is added to the products where a mask of integers keeps queries from keys: 1 where it does not, or
  // how many keys of a batch count.
  Result<size_t> bias_of_mask(size_t mask, int64_t keys) {
    const Shape& shape = node_.shape(mask);
    size_t is_kept = 0;
    Shape placed;
    if (shape == Shape{heads_.batch}) {
      Shape numbers(static_cast<size_t>(keys));
      std::iota(numbers.begin(), numbers.end(), int64_t{0});
      const size_t places = steps_.constant(DType::i32, {keys}, {numbers.begin(), numbers.end()});
      const size_t lengths = steps_.add(ReshapeOp{{heads_.batch, 1, 1, 1}}, {number(mask)});
      is_kept = zip(ZipFunction::less, places, lengths);
    } else {
      if (shape == Shape{heads_.batch, keys}) placed = {heads_.batch, 1, 1, keys};
      if (shape == Shape{heads_.batch, heads_.queries, keys})
        placed = {heads_.batch, 1, heads_.queries, keys};
      if (placed.empty()) {
        return fail(ErrorKind::unsupported,
                    fmt::format("its mask has shape {}, and Lathe supports [N], [N, keys] and [N, queries, "
                                "keys], here with {} keys",
                                to_string(shape), keys));
      }
      const size_t kept = steps_.add(ReshapeOp{placed}, {number(mask)});
      is_kept = zip(ZipFunction::less, steps_.constant(DType::i32, {}, {0}), kept);
    }
    return steps_.add(WhereOp{}, {is_kept, steps_.real(0), steps_.real(heads_.masked)});
  }

  // [N, places, heads x size] of what the queries find in the values.
  size_t attend(const Headed& query, const Headed& key, const Headed& value, std::optional<size_t> bias) {
    const double scale = heads_.scale > 0 ? heads_.scale : 1 / std::sqrt(static_cast<double>(query.size));
    const size_t scaled = zip(ZipFunction::mul, query.step, steps_.real(scale));
    size_t products = steps_.add(MatMulOp{}, {scaled, steps_.add(TransposeOp{{0, 1, 3, 2}}, {key.step})});
    if (bias) products = zip(ZipFunction::add, products, *bias);
    if (heads_.is_causal) products = zip(ZipFunction::add, products, causal_bias(query.places, key.places));
    SoftmaxOp softmax;
    softmax.axes = {3};
    const size_t mixed = steps_.add(MatMulOp{}, {steps_.add(softmax, {products}), value.step});
    const size_t turned = steps_.add(TransposeOp{{0, 2, 1, 3}}, {mixed});
    return steps_.add(ReshapeOp{{heads_.batch, query.places, heads_.heads * value.size}}, {turned});
  }

 private:
  size_t number(size_t mask) {
    return node_.type(mask).dtype == DType::i32 ? mask : steps_.add(CastOp{DType::i32}, {mask});
  }

  // The last query stands at the last key.
  size_t causal_bias(int64_t queries, int64_t keys) {
    std::vector<double> numbers;
    for (int64_t query = 0; query < queries; ++query)
      for (int64_t key = 0; key < keys; ++key) numbers.push_back(key > query + keys - queries ? kUnseen : 0);
    return steps_.constant(DType::f32, {queries, keys}, numbers);
  }

  const OnnxNode& node_;
  const Heads& heads_;
  StepList steps_;
};

// The sum of what there is.
std::optional<size_t> sum_of(HeadSteps& heads, std::optional<size_t> a, std::optional<size_t> b) {
  return a && b ? std::optional(heads.zip(ZipFunction::add, *a, *b)) : a ? a : b;
}

// The inputs of MultiHeadAttention.
struct HeadInput {
  static constexpr size_t kQuery = 0, kKey = 1, kValue = 2, kBias = 3, kMask = 4, kProductBias = 5,
                          kPastKey = 6, kPastValue = 7;
};

// Queries, keys or values: operand `input`, with its part of the bias, which starts at `first`.
Result<Headed> headed_input(HeadSteps& heads, const OnnxNode& node, size_t input, int64_t first) {
  const Shape& shape = node.shape(input);
  if (shape.size() == 4) return Headed{input, shape[2], shape[3]};
  if (shape.size() != 3) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("input {} has shape {}, and must have 3 or 4 axes", input, to_string(shape)));
  }
  size_t x = input;
  if (node.has_input(HeadInput::kBias))
    x = heads.zip(ZipFunction::add, x,
                  heads.part(HeadInput::kBias, node.shape(HeadInput::kBias), 0, first, shape[2]));
  return heads.with_heads(x, shape[1], shape[2]);
}

std::vector<ImportedOutput> outputs_of(HeadSteps& heads, size_t result, std::span<const size_t> others) {
  heads.steps().add(IdentityOp{}, {result});
  std::vector<ImportedOutput> outputs{heads.steps().finish()};
  for (const size_t other : others) {
    heads.steps().add(IdentityOp{}, {other});
    outputs.emplace_back(heads.steps().finish());
  }
  return outputs;
}

}  // namespace

ImportedOutputs import_multi_head_attention(OnnxNode& node) {
  for (const size_t input : {HeadInput::kKey, HeadInput::kValue}) {
    if (!node.has_input(input))
      return fail(ErrorKind::unsupported, "queries, keys and values are one input, and Lathe supports three");
  }
  LATHE_TRY(const Heads read, read_heads(node));
  HeadSteps heads(node, read);
  const int64_t width = node.shape(HeadInput::kQuery).back();
  LATHE_TRY(const Headed query, headed_input(heads, node, HeadInput::kQuery, 0));
  LATHE_TRY(Headed key, headed_input(heads, node, HeadInput::kKey, width));
  LATHE_TRY(Headed value, headed_input(heads, node, HeadInput::kValue, 2 * width));
  if (node.has_input(HeadInput::kPastKey) && node.has_input(HeadInput::kPastValue)) {
    if (node.shape(HeadInput::kPastKey).size() != 4)
      return fail(ErrorKind::invalid_argument, "its past keys have not four axes");
    const int64_t past = node.shape(HeadInput::kPastKey)[2];
    heads.append(key, HeadInput::kPastKey, past);
    heads.append(value, HeadInput::kPastValue, past);
  }
  std::optional<size_t> bias;
  if (node.has_input(HeadInput::kMask)) {
    LATHE_TRY(bias, heads.bias_of_mask(HeadInput::kMask, key.places));
  }
  if (node.has_input(HeadInput::kProductBias)) bias = sum_of(heads, bias, HeadInput::kProductBias);
  const size_t result = heads.attend(query, key, value, bias);
  return outputs_of(heads, result, std::array{key.step, value.step});
}

ImportedOutputs import_packed_attention(OnnxNode& node) {
  constexpr size_t kInput = 0, kWeights = 1, kBiases = 2, kPackedMask = 3, kPast = 4, kAdded = 5;
  LATHE_TRY_STATUS(node.require_inputs({kInput, kWeights}));
  LATHE_TRY_STATUS(require_attribute("do_rotary", static_cast<double>(node.integer("do_rotary", 0)), 0));
  LATHE_TRY(const Heads read, read_heads(node));
  const Shape &input = node.shape(kInput), &weights = node.shape(kWeights);
  Shape widths = node.integers("qkv_hidden_sizes", {});
  if (widths.empty() && weights.size() == 2) widths = Shape(3, weights[1] / 3);
  if (weights.size() != 2 || weights[0] != input[2] || widths.size() != 3 ||
      widths[0] + widths[1] + widths[2] != weights[1]) {
    return fail(ErrorKind::invalid_argument, fmt::format("its input {} and weights {} do not fit together",
                                                         to_string(input), to_string(weights)));
  }
  HeadSteps heads(node, read);
  size_t product = heads.steps().add(MatMulOp{}, {kInput, kWeights});
  if (node.has_input(kBiases)) product = heads.zip(ZipFunction::add, product, kBiases);
  const Shape whole{input[0], input[1], weights[1]};
  std::array<Headed, 3> parts;  // queries, keys, values
  for (int64_t first = 0, i = 0; i < 3; first += widths[static_cast<size_t>(i)], ++i) {
    const auto which = static_cast<size_t>(i);
    LATHE_TRY(parts.at(which),
              heads.with_heads(heads.part(product, whole, 2, first, widths[which]), input[1], widths[which]));
  }
  if (node.has_input(kPast)) {
    const Shape& past = node.shape(kPast);  // [2, N, heads, places, size]
    if (past.size() != 5 || past[0] != 2)
      return fail(ErrorKind::invalid_argument, fmt::format("its past has shape {}", to_string(past)));
    for (const int64_t which : {0, 1}) {
      const size_t half = heads.part(kPast, past, 0, which, 1);
      const size_t before = heads.steps().add(ReshapeOp{{past[1], past[2], past[3], past[4]}}, {half});
      heads.append(parts.at(static_cast<size_t>(which) + 1), before, past[3]);
    }
  }
  const auto& [query, key, value] = parts;
  std::optional<size_t> bias;
  if (node.has_input(kPackedMask)) {
    LATHE_TRY(bias, heads.bias_of_mask(kPackedMask, key.places));
  }
  if (node.has_input(kAdded)) bias = sum_of(heads, bias, kAdded);
  const size_t result = heads.attend(query, key, value, bias);
  if (node.output_count() < 2) return outputs_of(heads, result, {});
  const auto lifted = [&](const Headed& x) {
    return heads.steps().add(ReshapeOp{{1, read.batch, read.heads, x.places, x.size}}, {x.step});
  };
  const size_t present = heads.steps().add(ConcatOp{0}, {lifted(key), lifted(value)});
  return outputs_of(heads, result, std::array{present});
}

}  // namespace lathe
