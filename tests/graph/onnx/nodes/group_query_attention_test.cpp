// Attention of heads that share keys beside sums over places, written out.
#include "graph/onnx/nodes/group_query_attention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"
#include "graph/network_runner.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

using Numbers = std::vector<double>;

constexpr int64_t kBatch = 2, kHeads = 4, kKeyHeads = 2, kSize = 4, kPast = 3, kQueries = 2, kTotal = 5;
constexpr int kI32 = onnx::TensorProto_DataType_INT32;

Values drawn(const Shape& shape, uint64_t seed) {
  Rng rng(seed);
  Values values{shape, {}};
  for (int64_t i = 0; i < elements_of(shape); ++i) values.data.push_back(rng.uniform() * 2 - 1);
  return values;
}

auto is_near(const Numbers& numbers) { return ::testing::Pointwise(::testing::DoubleNear(1e-4), numbers); }

// Four heads over two, queries at the last two of five places, or, of the second sequence, of four.
OnnxModel group_model(bool is_packed) {
  OnnxModel model;
  const int64_t width = (is_packed ? kHeads + 2 * kKeyHeads : kHeads) * kSize;
  model.input("q", {kBatch, kQueries, width});
  const Shape narrow{kBatch, kQueries, kKeyHeads * kSize}, past{kBatch, kKeyHeads, kPast, kSize};
  if (!is_packed) model.input("k", narrow).input("v", narrow);
  model.input("pk", past).input("pv", past).input("l", {kBatch, 1}, kI32);
  model.input("t", {1}, kI32).initializer("c", {8, 2}).initializer("s", {8, 2});
  const std::string key = is_packed ? "" : "k", value = is_packed ? "" : "v";
  model.runtime_node("n", "GroupQueryAttention", {"q", key, value, "pk", "pv", "l", "t", "c", "s"}, "y");
  model.gives("ok").gives("ov").attribute("num_heads", kHeads).attribute("kv_num_heads", kKeyHeads);
  return std::move(model.output("y").output("ok").output("ov"));
}

struct GroupCase {
  Values q = drawn({kBatch, kQueries, kHeads * kSize}, 1),
         k = drawn({kBatch, kQueries, kKeyHeads * kSize}, 2),
         v = drawn({kBatch, kQueries, kKeyHeads * kSize}, 3),
         past_key = drawn({kBatch, kKeyHeads, kPast, kSize}, 4),
         past_value = drawn({kBatch, kKeyHeads, kPast, kSize}, 5);
  Values lengths{{kBatch, 1}, {4, 3}, DType::i32}, total{{1}, {5}, DType::i32};

  std::vector<Values> inputs() const { return {q, k, v, past_key, past_value, lengths, total}; }
  int64_t before(int64_t n) const { return n == 0 ? 3 : 2; }
  // An element of the present: of the past, or of what is new.
  double present(const Values& past, const Values& given, int64_t n, int64_t head, int64_t place,
                 int64_t i) const {
    const int64_t fresh = place - before(n);
    return fresh < 0
               ? past.data[static_cast<size_t>(((n * kKeyHeads + head) * kPast + place) * kSize + i)]
               : given.data[static_cast<size_t>(((n * kQueries + fresh) * kKeyHeads + head) * kSize + i)];
  }
};

// `cap` 0: none.
Numbers attention(const GroupCase& c, int64_t window, double cap) {
  Numbers result;
  for (int64_t n = 0; n < kBatch; ++n)
    for (int64_t query = 0; query < kQueries; ++query)
      for (int64_t number = 0; number < kHeads * kSize; ++number) {
        const int64_t head = number / kSize, shared = head / 2, last = c.before(n) + query;
        double sum = 0, mixed = 0;
        for (int64_t key = std::max<int64_t>(0, last - window + 1); key <= last; ++key) {
          double product = 0;
          for (int64_t i = 0; i < kSize; ++i)
            product += c.q.data[static_cast<size_t>(((n * kQueries + query) * kHeads + head) * kSize + i)] *
                       c.present(c.past_key, c.k, n, shared, key, i) / 2;
          const double weight = std::exp(cap > 0 ? cap * std::tanh(product / cap) : product);
          sum += weight;
          mixed += weight * c.present(c.past_value, c.v, n, shared, key, number % kSize);
        }
        result.push_back(mixed / sum);
      }
  return result;
}

TEST(OnnxGroupQueryAttention, SeesThePastAndWhatStandsBefore) {
  const GroupCase c;
  EXPECT_THAT(run_network(group_model(false), c.inputs()).data, is_near(attention(c, kTotal, 0)));
  OnnxModel narrow = group_model(false).attribute("local_window_size", 2).attribute("softcap", 0.5);
  EXPECT_THAT(run_network(narrow, c.inputs()).data, is_near(attention(c, 2, 0.5)));
}

// Behind the end of a shorter sequence lies nothing.
TEST(OnnxGroupQueryAttention, GivesThePresent) {
  const GroupCase c;
  const Values keys = run_network(group_model(false), c.inputs(), 1);
  EXPECT_EQ(keys.shape, (Shape{kBatch, kKeyHeads, kTotal, kSize}));
  for (int64_t n = 0; n < kBatch; ++n)
    for (int64_t head = 0; head < kKeyHeads; ++head)
      for (int64_t place = 0; place < kTotal; ++place)
        EXPECT_NEAR(keys.data[static_cast<size_t>(((n * kKeyHeads + head) * kTotal + place) * kSize)],
                    place < c.before(n) + kQueries ? c.present(c.past_key, c.k, n, head, place, 0) : 0, 1e-6);
}

TEST(OnnxGroupQueryAttention, QueriesKeysAndValuesMayBeOneInput) {
  const GroupCase c;
  Values packed{{kBatch, kQueries, (kHeads + 2 * kKeyHeads) * kSize}, {}};
  for (int64_t row = 0; row < kBatch * kQueries; ++row)
    for (const Values* part : {&c.q, &c.k, &c.v}) {
      const auto begin = part->data.begin() + row * part->shape[2];
      packed.data.insert(packed.data.end(), begin, begin + part->shape[2]);
    }
  EXPECT_THAT(run_network(group_model(true), {packed, c.past_key, c.past_value, c.lengths, c.total}).data,
              is_near(attention(c, kTotal, 0)));
}

// Without a past the queries are all that there is; a quarter turn of all, by which products stay.
TEST(OnnxGroupQueryAttention, TurnsQueriesAndKeysByTheirPlaces) {
  OnnxModel model;
  model.input("q", {1, 2, 2}).input("k", {1, 2, 2}).input("v", {1, 2, 2}).input("l", {1}, kI32);
  model.integers("t", {2}).initializer("c", {2, 1}, {1, 0}).initializer("s", {2, 1}, {0, 1});
  model.runtime_node("n", "GroupQueryAttention", {"q", "k", "v", "", "", "l", "t", "c", "s"}, "y")
      .gives("ok");
  model.attribute("num_heads", 1)
      .attribute("kv_num_heads", 1)
      .attribute("do_rotary", 1)
      .output("y")
      .output("ok");
  const Values x{{1, 2, 2}, {1, 2, 3, 4}}, length{{1}, {1}, DType::i32};
  EXPECT_EQ(run_network(model, {x, x, x, length}, 1).data, (Numbers{1, 2, -4, 3}));
}

// One key of product 0, whose weight a half more makes of it, or that of the sink, log 3.
TEST(OnnxGroupQueryAttention, APartOfTheWeightsMayBeOfNoKey) {
  const auto mixed = [](const std::vector<std::string>& inputs, int64_t smooth) {
    OnnxModel model;
    model.input("q", {1, 1, 2}).input("v", {1, 1, 2}).input("l", {1}, kI32).integers("t", {1});
    model.initializer("k", {1, 1, 2}, {0, 0}).initializer("s", {1}, {std::log(3.0F)});
    model.runtime_node("n", "GroupQueryAttention", inputs, "y").attribute("num_heads", 1);
    model.attribute("kv_num_heads", 1).attribute("smooth_softmax", smooth).output("y");
    return run_network(model, {{{1, 1, 2}, {1, 2}}, {{1, 1, 2}, {4, 8}}, {{1}, {0}, DType::i32}}).data;
  };
  EXPECT_THAT(mixed({"q", "k", "v", "", "", "l", "t"}, 1), is_near({2, 4}));
  EXPECT_THAT(mixed({"q", "k", "v", "", "", "l", "t", "", "", "", "", "s"}, 0), is_near({1, 2}));
}

TEST(OnnxGroupQueryAttention, NamesWhatItCannotTake) {
  OnnxModel model = group_model(false).attribute("qk_output", 1);
  EXPECT_EQ(import_error(model),
            "node 'n' (GroupQueryAttention): attribute 'qk_output' is 1, and Lathe supports 0");
  OnnxModel odd;
  odd.input("q", {1, 1, 6}).input("l", {1}, kI32).input("t", {}, kI32);
  odd.runtime_node("n", "GroupQueryAttention", {"q", "q", "q", "", "", "l", "t"}, "y").output("y");
  odd.attribute("num_heads", 3).attribute("kv_num_heads", 2);
  EXPECT_EQ(import_error(odd),
            "node 'n' (GroupQueryAttention): its queries [1,1,6] are not those of 3 heads over 2");
}

}  // namespace
}  // namespace lathe
