#include "graph/onnx/nodes/linear_attention.h"

#include <fmt/format.h>

#include <cmath>

namespace lathe {

namespace {

constexpr size_t kQuery = 0, kKey = 1, kValue = 2, kPast = 3, kDecay = 4, kBeta = 5;
// Each place is some ten operators: longer sequences would make graphs of tens of thousands.
constexpr int64_t kMostPlaces = 4096;

struct LinearAttention {
  int64_t batch = 0, places = 0;
  int64_t key_heads = 0, shared = 0;        // by so many heads of queries each
  int64_t key_size = 0, value_size = 0;     // of one head
  int64_t decay_width = 0, beta_heads = 0;  // of the decay of one head; 0: there is none
  double scale = 0;

  int64_t states() const { return batch * key_heads; }
};

std::unexpected<Error> misfit(const OnnxNode& node, size_t input, const std::string& must) {
  return fail(ErrorKind::invalid_argument, fmt::format("input {} has shape {}, and must be {}", input,
                                                       to_string(node.shape(input)), must));
}

Status read_rule(OnnxNode& node) {
  const std::string rule = node.text("update_rule", "gated_delta");
  if (rule != "linear" && rule != "gated" && rule != "delta" && rule != "gated_delta") {
    return fail(ErrorKind::invalid_argument,
                fmt::format("its rule '{}' is none of linear, gated, delta and gated_delta", rule));
  }
  const bool decays = rule.starts_with("gated"), corrects = rule.ends_with("delta");
  if (decays == node.has_input(kDecay) && corrects == node.has_input(kBeta)) return {};
  return fail(ErrorKind::invalid_argument, fmt::format("its rule is '{}', which takes {} decay and {} beta",
                                                       rule, decays ? "a" : "no", corrects ? "a" : "no"));
}

Result<LinearAttention> read_linear_attention(OnnxNode& node) {
  LATHE_TRY_STATUS(read_rule(node));
  node.integer("chunk_size", 64);  // how a device may cut the sequence; the result does not depend on it
  const Shape &q = node.shape(kQuery), &k = node.shape(kKey), &v = node.shape(kValue);
  const int64_t heads = node.integer("q_num_heads", 0), key_heads = node.integer("kv_num_heads", 0);
  LinearAttention found;
  const bool fit = q.size() == 3 && k.size() == 3 && v.size() == 3 && q[0] == k[0] && q[0] == v[0] &&
                   q[1] == k[1] && q[1] == v[1] && heads > 0 && key_heads > 0 && heads % key_heads == 0 &&
                   q[2] % heads == 0 && v[2] % key_heads == 0 && k[2] == q[2] / heads * key_heads;
  if (!fit) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("its queries {}, keys {} and values {} do not fit {} and {} heads", to_string(q),
                            to_string(k), to_string(v), heads, key_heads));
  }
  found = {q[0], q[1], key_heads, heads / key_heads, q[2] / heads, v[2] / key_heads, 0, 0, 0};
  if (found.places > kMostPlaces) {
    return fail(ErrorKind::unsupported,
                fmt::format("its sequence has {} places, and Lathe supports {}", found.places, kMostPlaces));
  }
  found.scale = node.real("scale", 0);
  if (found.scale == 0) found.scale = 1 / std::sqrt(static_cast<double>(found.key_size));
  const Shape state{found.batch, key_heads, found.key_size, found.value_size};
  if (node.has_input(kPast) && node.shape(kPast) != state) return misfit(node, kPast, to_string(state));
  const auto width_of = [&](size_t input) {
    const Shape& shape = node.shape(input);
    return shape.size() == 3 && shape[0] == found.batch && shape[1] == found.places ? shape[2] : 0;
  };
  if (node.has_input(kDecay)) {
    const int64_t width = width_of(kDecay);
    if (width != key_heads && width != k[2])
      return misfit(node, kDecay, fmt::format("[{},{},{} or {}]", q[0], q[1], key_heads, k[2]));
    found.decay_width = width / key_heads;
  }
  if (node.has_input(kBeta)) {
    found.beta_heads = width_of(kBeta);
    if (found.beta_heads != key_heads && found.beta_heads != 1)
      return misfit(node, kBeta, fmt::format("[{},{},{} or 1]", q[0], q[1], key_heads));
  }
  return found;
}

class LinearAttentionSteps {
 public:
  LinearAttentionSteps(const OnnxNode& node, const LinearAttention& attention)
      : node_(node), attention_(attention), steps_(node.input_count()) {
    const int64_t keys = attention.key_size, values = attention.value_size;
    const size_t scaled = zip(ZipFunction::mul, kQuery, steps_.real(attention.scale));
    queries_ = by_place(scaled, attention.key_heads, {attention.shared, keys});
    rows_ = by_place(kKey, attention.key_heads, {1, keys});
    columns_ = add(ReshapeOp{{attention.places, attention.states(), keys, 1}}, {rows_});
    values_ = by_place(kValue, attention.key_heads, {1, values});
    if (attention.decay_width > 0) {
      const size_t factors = add(MapOp{MapFunction::exp}, {kDecay});
      decay_ = by_place(factors, attention.key_heads, {attention.decay_width, 1});
    }
    if (attention.beta_heads > 0) beta_ = by_place(kBeta, attention.beta_heads, {1, 1});
  }

  std::vector<ImportedOutput> run() {
    const LinearAttention& a = attention_;
    const Shape flat{a.states(), a.key_size, a.value_size};
    size_t state =
        node_.has_input(kPast) ? add(ReshapeOp{flat}, {kPast}) : add(ExpandOp{flat}, {steps_.real(0)});
    std::vector<size_t> found;
    for (int64_t place = 0; place < a.places; ++place) {
      state = next(place, state);
      const size_t read = add(MatMulOp{}, {at(queries_, place), state});
      found.push_back(add(ReshapeOp{{1, a.batch, a.key_heads, a.shared, a.value_size}}, {read}));
    }
    const size_t all = add(TransposeOp{{1, 0, 2, 3, 4}}, {steps_.joined(found, 0)});
    add(ReshapeOp{{a.batch, a.places, a.key_heads * a.shared * a.value_size}}, {all});
    std::vector<ImportedOutput> outputs{steps_.finish()};
    state = add(ReshapeOp{{a.batch, a.key_heads, a.key_size, a.value_size}}, {state});
    // In the type of the past, else in that of the queries.
    add(CastOp{node_.declared(node_.has_input(kPast) ? kPast : kQuery)}, {state});
    outputs.emplace_back(steps_.finish());
    return outputs;
  }

 private:
  size_t add(GraphOp op, std::vector<size_t> reads) { return steps_.add(std::move(op), std::move(reads)); }
  size_t zip(ZipFunction function, size_t a, size_t b) { return add(ZipOp{function}, {a, b}); }

  // Of [batch, places, heads x rows x columns]: [places, states, rows, columns], the same for all of a
  // batch's states where there is one head.
  size_t by_place(size_t x, int64_t heads, const Shape& matrix) {
    const int64_t batch = attention_.batch, places = attention_.places;
    size_t result = add(ReshapeOp{{batch, places, heads, matrix[0], matrix[1]}}, {x});
    result = add(TransposeOp{{1, 0, 2, 3, 4}}, {result});
    if (heads != attention_.key_heads)
      result = add(ExpandOp{{places, batch, attention_.key_heads, matrix[0], matrix[1]}}, {result});
    return add(ReshapeOp{{places, attention_.states(), matrix[0], matrix[1]}}, {result});
  }

  // Looked up by a number: operators that differ in where they begin would be kernels of their own.
  size_t at(size_t x, int64_t place) { return add(GatherByOp{0}, {x, steps_.integers({}, {place})}); }

  size_t next(int64_t place, size_t state) {
    if (attention_.decay_width > 0) state = zip(ZipFunction::mul, state, at(decay_, place));
    size_t value = at(values_, place);
    if (attention_.beta_heads > 0) {
      const size_t known = add(MatMulOp{}, {at(rows_, place), state});
      value = zip(ZipFunction::mul, zip(ZipFunction::sub, value, known), at(beta_, place));
    }
    return zip(ZipFunction::add, state, zip(ZipFunction::mul, at(columns_, place), value));
  }

  const OnnxNode& node_;
  const LinearAttention& attention_;
  StepList steps_;
  size_t queries_ = 0, rows_ = 0, columns_ = 0, values_ = 0, decay_ = 0, beta_ = 0;
};

}  // namespace

ImportedOutputs import_linear_attention(OnnxNode& node) {
  LATHE_TRY(const LinearAttention attention, read_linear_attention(node));
  return LinearAttentionSteps(node, attention).run();
}

}  // namespace lathe
