#include "graph/onnx/nodes/attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "graph/onnx/nodes/head_steps.h"

namespace lathe {

namespace {

constexpr size_t kQuery = 0, kKey = 1, kValue = 2, kMask = 3, kPastKey = 4, kPastValue = 5, kLengths = 6;

// Which of the products are an output: as they are, capped, with the bias, or after Softmax.
enum class Products { raw, capped, biased, weights };

struct Attention {
  int64_t batch = 0, heads = 0, key_heads = 0, queries = 0, keys = 0, past = 0;
  bool are_flat = false;  // [N, places, heads x size], not [N, heads, places, size]
  double scale = 0, cap = 0;
  bool is_causal = false;
  int64_t left = -1, right = -1;  // how far from its own place a query looks; -1: to the end
  Products products = Products::raw;
  bool is_precise = false;  // whether the Softmax is computed in f64

  int64_t all_keys() const { return past + keys; }
};

std::unexpected<Error> misfit(const OnnxNode& node) {
  return fail(
      ErrorKind::invalid_argument,
      fmt::format("its queries {}, keys {} and values {} do not fit together", to_string(node.shape(kQuery)),
                  to_string(node.shape(kKey)), to_string(node.shape(kValue))));
}

Status read_shapes(OnnxNode& node, Attention& attention) {
  const Shape &q = node.shape(kQuery), &k = node.shape(kKey), &v = node.shape(kValue);
  if ((q.size() != 3 && q.size() != 4) || k.size() != q.size() || v.size() != q.size()) return misfit(node);
  attention.are_flat = q.size() == 3;
  attention.heads = node.integer("q_num_heads", attention.are_flat ? 0 : q[1]);
  attention.key_heads = node.integer("kv_num_heads", attention.are_flat ? 0 : k[1]);
  const size_t places = attention.are_flat ? 1 : 2;
  attention.batch = q[0];
  attention.queries = q[places];
  attention.keys = k[places];
  const int64_t heads = attention.heads, key_heads = attention.key_heads;
  const bool fit = heads > 0 && key_heads > 0 && heads % key_heads == 0 && k[0] == q[0] && v[0] == q[0] &&
                   v[places] == k[places];
  if (!fit) return misfit(node);
  const bool divide = q[2] % heads == 0 && k[2] % key_heads == 0 && v[2] % key_heads == 0;
  const bool have_heads =
      attention.are_flat ? divide : q[1] == heads && k[1] == key_heads && v[1] == key_heads;
  if (!have_heads) return misfit(node);
  if (node.has_input(kPastKey) != node.has_input(kPastValue))
    return fail(ErrorKind::invalid_argument, "it has a past of the keys or of the values alone");
  if (node.has_input(kMask) && node.shape(kMask).empty())
    return fail(ErrorKind::invalid_argument, "its mask has no axes");
  if (node.has_input(kLengths) && node.shape(kLengths) != Shape{attention.batch}) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("its numbers of keys that count have the shape {}, and must have [{}]",
                            to_string(node.shape(kLengths)), attention.batch));
  }
  if (node.has_input(kPastKey)) {
    if (node.shape(kPastKey).size() != 4 || node.shape(kPastValue).size() != 4) return misfit(node);
    attention.past = node.shape(kPastKey)[2];
  }
  return {};
}

Result<Attention> read_attention(OnnxNode& node) {
  Attention attention;
  LATHE_TRY_STATUS(read_shapes(node, attention));
  const int64_t size = node.shape(kQuery).back() / (attention.are_flat ? attention.heads : 1);
  attention.scale = node.real("scale", 1 / std::sqrt(static_cast<double>(size)));
  attention.cap = node.real("softcap", 0);
  attention.is_causal = node.integer("is_causal", 0) != 0;
  attention.left = node.integer("left_window_size", -1);
  attention.right = node.integer("right_window_size", -1);
  const int64_t mode = node.integer("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("attribute 'qk_matmul_output_mode' is {}, and must be 0 to 3", mode));
  }
  attention.products = static_cast<Products>(mode);
  // As ONNX numbers types; f16 and bf16 are computed in f32.
  constexpr int64_t kF32 = 1, kF16 = 10, kF64 = 11, kBf16 = 16;
  const int64_t precision = node.integer("softmax_precision", kF32);
  if (precision != kF32 && precision != kF16 && precision != kF64 && precision != kBf16) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("attribute 'softmax_precision' is {}, and must be 1, 10, 11 or 16", precision));
  }
  attention.is_precise = precision == kF64;
  return attention;
}

class AttentionSteps {
 public:
  AttentionSteps(const OnnxNode& node, const Attention& attention)
      : node_(node), attention_(attention), heads_(node.input_count(), attention.batch) {}

  ImportedOutputs run() {
    LATHE_TRY(const Headed query, headed(kQuery, attention_.heads));
    LATHE_TRY(Headed key, headed(kKey, attention_.key_heads));
    LATHE_TRY(Headed value, headed(kValue, attention_.key_heads));
    if (attention_.past > 0) {
      heads_.put_before(key, kPastKey, attention_.past);
      heads_.put_before(value, kPastValue, attention_.past);
    }
    const Headed mixed = heads_.mix(weights_of(query, key), query, value);
    const size_t result = attention_.are_flat ? heads_.join(mixed) : mixed.step;
    return heads_.outputs(std::array{result, key.step, value.step, products_});
  }

 private:
  StepList& steps() { return heads_.steps(); }
  size_t zip(ZipFunction function, size_t a, size_t b) { return heads_.zip(function, a, b); }

  Result<Headed> headed(size_t operand, int64_t heads) {
    const Shape& shape = node_.shape(operand);
    if (attention_.are_flat) return heads_.split(operand, heads, shape[1], shape[2]);
    return Headed{operand, heads, shape[2], shape[3]};
  }

  // 0 where a query may look at a key, else minus infinity; nothing where every query may look at all.
  std::optional<size_t> bias_of_places() {
    const Attention& a = attention_;
    if (!a.is_causal && a.left < 0 && a.right < 0) return std::nullopt;
    return heads_.by_places(a.queries, a.all_keys(), [&](int64_t query, int64_t key) {
      const int64_t ahead = key - (query + a.past);
      const bool is_seen = (!a.is_causal || ahead <= 0) && (a.right < 0 || ahead <= a.right) &&
                           (a.left < 0 || -ahead <= a.left);
      return is_seen ? 0 : -std::numeric_limits<double>::infinity();
    });
  }

  // 0 where `more` is at least 1, minus infinity where it is at most 0: the logarithms of 1 and 0.
  size_t bias_where(size_t more) {
    return steps().add(MapOp{MapFunction::log}, {steps().add(MapOp{MapFunction::clip, 0, 1}, {more})});
  }

  // The mask as numbers, as wide as there are keys.
  size_t bias_of_mask() {
    size_t result = kMask;
    if (node_.type(kMask).dtype == DType::boolean)
      result = steps().add(MapOp{MapFunction::log}, {steps().add(CastOp{DType::f32}, {kMask})});
    const Shape& shape = node_.shape(kMask);
    const int64_t missing = attention_.all_keys() - shape.back();
    if (missing <= 0 || shape.back() == 1) return result;
    PadOp pad{Shape(shape.size(), 0), Shape(shape.size(), 0)};
    pad.after.back() = missing;
    pad.value = kUnseen;
    return steps().add(pad, {result});
  }

  // Where only so many keys count, the last query stands at the last of them.
  size_t bias_of_lengths() {
    const int64_t queries = attention_.queries, keys = attention_.all_keys();
    const size_t numbers = steps().add(CastOp{DType::f32}, {kLengths});
    const size_t lengths = steps().add(ReshapeOp{{attention_.batch, 1, 1, 1}}, {numbers});
    const auto before = [&](int64_t query, int64_t key) {
      return static_cast<double>(query - queries - key);
    };
    const auto places = [&](double factor, double added) {
      return heads_.by_places(
          queries, keys, [&](int64_t query, int64_t key) { return factor * before(query, key) + added; });
    };
    const size_t key_numbers =
        heads_.by_places(1, keys, [](int64_t, int64_t key) { return static_cast<double>(key); });
    size_t result = bias_where(zip(ZipFunction::sub, lengths, key_numbers));
    const auto restrict_to = [&](size_t more) { result = zip(ZipFunction::add, result, bias_where(more)); };
    const auto right = static_cast<double>(attention_.right), left = static_cast<double>(attention_.left);
    if (attention_.is_causal) restrict_to(zip(ZipFunction::add, places(1, 1), lengths));
    if (right >= 0) restrict_to(zip(ZipFunction::add, places(1, right + 1), lengths));
    if (left >= 0) restrict_to(zip(ZipFunction::sub, places(-1, left + 1), lengths));
    return result;
  }

  // What is added to the products; nothing where no query is kept from a key.
  std::optional<size_t> bias() {
    std::vector<size_t> parts;
    if (node_.has_input(kMask)) parts.push_back(bias_of_mask());
    if (node_.has_input(kLengths)) {
      parts.push_back(bias_of_lengths());
      bias_rank_ = 4;
    } else if (const auto places = bias_of_places()) {
      parts.push_back(*places);
      bias_rank_ = 2;
    }
    if (node_.has_input(kMask)) bias_rank_ = std::max(bias_rank_, node_.shape(kMask).size());
    if (parts.empty()) return std::nullopt;
    return parts.size() == 1 ? parts[0] : zip(ZipFunction::add, parts[0], parts[1]);
  }

  size_t weights_of(const Headed& query, const Headed& key) {
    size_t result = heads_.products(query, key, attention_.scale);
    keep(Products::raw, result);
    if (attention_.cap > 0) {
      const size_t cap = steps().real(attention_.cap);
      const size_t bounded = steps().add(MapOp{MapFunction::tanh}, {zip(ZipFunction::div, result, cap)});
      result = zip(ZipFunction::mul, bounded, cap);
    }
    keep(Products::capped, result);
    const std::optional<size_t> added = bias();
    if (added) result = zip(ZipFunction::add, result, *added);
    keep(Products::biased, result);
    if (!added) {
      result = softmax(result);
    } else {
      const size_t finite = zip(ZipFunction::max, result, steps().real(kUnseen));
      result = zip(ZipFunction::mul, softmax(finite), sees_any(*added));
    }
    keep(Products::weights, result);
    return result;
  }

  size_t softmax(size_t products) {
    if (!attention_.is_precise) return heads_.weights(products);
    const size_t weights = heads_.weights(steps().add(CastOp{DType::f64}, {products}));
    return steps().add(CastOp{DType::f32}, {weights});
  }

  // 1 for a query that looks at any key, 0 for one that looks at none, whose weights are all 0.
  size_t sees_any(size_t bias) {
    ReduceOp largest;
    largest.function = ReduceFunction::max;
    largest.axes = {bias_rank_ - 1};
    const size_t most = steps().add(largest, {bias});
    return steps().add(MapOp{MapFunction::clip, 0, 1},
                       {zip(ZipFunction::sub, most, steps().real(kUnseen / 2))});
  }

  void keep(Products stage, size_t value) {
    if (attention_.products == stage) products_ = value;
  }

  const OnnxNode& node_;
  const Attention& attention_;
  HeadSteps heads_;
  size_t products_ = 0;
  size_t bias_rank_ = 0;
};

}  // namespace

ImportedOutputs import_attention(OnnxNode& node) {
  LATHE_TRY(const Attention attention, read_attention(node));
  return AttentionSteps(node, attention).run();
}

}  // namespace lathe
