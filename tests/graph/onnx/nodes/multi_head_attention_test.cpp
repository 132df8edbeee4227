// Attention beside sums over places, written out.
#include "graph/onnx/nodes/multi_head_attention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"
#include "graph/network_runner.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

using ::testing::DoubleNear;
using ::testing::Pointwise;
using Numbers = std::vector<double>;

constexpr int64_t kBatch = 2, kHeads = 2, kQueries = 3, kKeys = 5, kSize = 4, kWidth = kHeads * kSize;
constexpr int kI32 = onnx::TensorProto_DataType_INT32;

Values drawn(const Shape& shape, uint64_t seed) {
  Rng rng(seed);
  Values values{shape, {}};
  for (int64_t i = 0; i < elements_of(shape); ++i) values.data.push_back(rng.uniform() * 2 - 1);
  return values;
}

double at(const Values& x, int64_t n, int64_t place, int64_t number) {
  return x.data[static_cast<size_t>((n * x.shape[1] + place) * x.shape[2] + number)];
}

// `bias(n, head, query, key)` is added to the products.
template <class Bias>
Numbers attention(const Values& q, const Values& k, const Values& v, Bias bias) {
  Numbers result;
  for (int64_t n = 0; n < kBatch; ++n)
    for (int64_t query = 0; query < q.shape[1]; ++query)
      for (int64_t number = 0; number < kWidth; ++number) {
        const int64_t head = number / kSize;
        double sum = 0, mixed = 0;
        for (int64_t key = 0; key < k.shape[1]; ++key) {
          double product = 0;
          for (int64_t i = 0; i < kSize; ++i)
            product += at(q, n, query, head * kSize + i) * at(k, n, key, head * kSize + i);
          const double weight =
              std::exp(product / std::sqrt(static_cast<double>(kSize)) + bias(n, head, query, key));
          sum += weight;
          mixed += weight * at(v, n, key, number);
        }
        result.push_back(mixed / sum);
      }
  return result;
}

double no_bias(int64_t, int64_t, int64_t, int64_t) { return 0; }

OnnxModel attention_model() {
  OnnxModel model;
  model.input("q", {kBatch, kQueries, kWidth}).input("k", {kBatch, kKeys, kWidth});
  return model.input("v", {kBatch, kKeys, kWidth}).output("y");
}

std::vector<Values> factors() {
  return {drawn({kBatch, kQueries, kWidth}, 1), drawn({kBatch, kKeys, kWidth}, 2),
          drawn({kBatch, kKeys, kWidth}, 3)};
}

void expect_near(const Numbers& actual, const Numbers& expected) {
  EXPECT_THAT(actual, Pointwise(DoubleNear(1e-5), expected));
}

TEST(MultiHeadAttention, MixesValuesByHeads) {
  OnnxModel model = attention_model();
  model.runtime_node("n", "MultiHeadAttention", {"q", "k", "v"}, "y").attribute("num_heads", kHeads);
  const std::vector<Values> in = factors();
  expect_near(run_network(model, in).data, attention(in[0], in[1], in[2], no_bias));
}

TEST(MultiHeadAttention, AddsItsBiases) {
  OnnxModel model = attention_model();
  std::vector<float> bias(3 * kWidth);
  for (size_t i = 0; i < bias.size(); ++i) bias[i] = static_cast<float>(i % 7) / 8;
  model.initializer("b", {3 * kWidth}, bias);
  model.runtime_node("n", "MultiHeadAttention", {"q", "k", "v", "b"}, "y").attribute("num_heads", kHeads);
  const std::vector<Values> in = factors();
  std::vector<Values> biased = in;
  for (size_t part = 0; part < 3; ++part)
    for (size_t i = 0; i < biased[part].data.size(); ++i)
      biased[part].data[i] += static_cast<double>(bias[part * kWidth + i % kWidth]);
  expect_near(run_network(model, in).data, attention(biased[0], biased[1], biased[2], no_bias));
}

TEST(MultiHeadAttention, MasksOfKeysInTheirTwoForms) {
  std::vector<Values> in = factors();
  const auto masked = [](bool is_kept) { return is_kept ? 0.0 : -10000.0; };
  OnnxModel lengths = attention_model();
  lengths.input("m", {kBatch}, kI32);
  lengths.runtime_node("n", "MultiHeadAttention", {"q", "k", "v", "", "m"}, "y")
      .attribute("num_heads", kHeads);
  in.push_back({{kBatch}, {2, 5}, DType::i32});
  expect_near(run_network(lengths, in).data,
              attention(in[0], in[1], in[2], [&](int64_t n, int64_t, int64_t, int64_t key) {
                return masked(static_cast<double>(key) < in[3].data[static_cast<size_t>(n)]);
              }));
  OnnxModel flags = attention_model();
  flags.input("m", {kBatch, kKeys}, kI32).input("p", {1, kHeads, kQueries, kKeys});
  flags.runtime_node("n", "MultiHeadAttention", {"q", "k", "v", "", "m", "p"}, "y");
  flags.attribute("num_heads", kHeads);
  in[3] = {{kBatch, kKeys}, {1, 0, 1, 1, 0, 0, 1, 1, 0, 1}, DType::i32};
  in.push_back(drawn({1, kHeads, kQueries, kKeys}, 4));
  expect_near(run_network(flags, in).data,
              attention(in[0], in[1], in[2], [&](int64_t n, int64_t head, int64_t query, int64_t key) {
                const auto place = static_cast<size_t>((head * kQueries + query) * kKeys + key);
                return in[4].data[place] + masked(in[3].data[static_cast<size_t>(n * kKeys + key)] > 0);
              }));
  flags.proto.mutable_graph()
      ->mutable_input(3)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(1)
      ->set_dim_value(4);
  EXPECT_EQ(
      import_error(flags),
      "node 'n' (MultiHeadAttention): its mask has shape [2,4], and Lathe supports [N], [N, keys] and [N, "
      "queries, keys], here with 5 keys");
}

// Keys 0 to 1 are the past.
TEST(MultiHeadAttention, APastGoesInFront) {
  OnnxModel model;
  constexpr int64_t kPast = 2;
  model.input("q", {kBatch, kKeys - kPast, kWidth}).input("k", {kBatch, kKeys - kPast, kWidth});
  model.input("v", {kBatch, kKeys - kPast, kWidth}).input("pk", {kBatch, kHeads, kPast, kSize});
  model.input("pv", {kBatch, kHeads, kPast, kSize});
  model.runtime_node("n", "MultiHeadAttention", {"q", "k", "v", "", "", "", "pk", "pv"}, "y");
  model.gives("key").gives("value").attribute("num_heads", kHeads).attribute("unidirectional", 1);
  model.output("y").output("key").output("value");
  const Values q = drawn({kBatch, kKeys - kPast, kWidth}, 1), k = drawn({kBatch, kKeys, kWidth}, 2),
               v = drawn({kBatch, kKeys, kWidth}, 3);
  const auto split = [&](const Values& x) {
    Values past{{kBatch, kHeads, kPast, kSize}, {}}, now{{kBatch, kKeys - kPast, kWidth}, {}};
    for (int64_t n = 0; n < kBatch; ++n)
      for (int64_t head = 0; head < kHeads; ++head)
        for (int64_t place = 0; place < kPast; ++place)
          for (int64_t i = 0; i < kSize; ++i) past.data.push_back(at(x, n, place, head * kSize + i));
    for (int64_t n = 0; n < kBatch; ++n)
      for (int64_t place = kPast; place < kKeys; ++place)
        for (int64_t i = 0; i < kWidth; ++i) now.data.push_back(at(x, n, place, i));
    return std::pair(past, now);
  };
  const auto [past_keys, keys] = split(k);
  const auto [past_values, values] = split(v);
  const std::vector<Values> in{q, keys, values, past_keys, past_values};
  const auto causal = [](int64_t, int64_t, int64_t query, int64_t key) {
    return key > query + kPast ? -std::numeric_limits<double>::infinity() : 0;
  };
  expect_near(run_network(model, in).data, attention(q, k, v, causal));
  const Values all = run_network(model, in, 1);
  EXPECT_EQ(all.shape, (Shape{kBatch, kHeads, kKeys, kSize}));
  EXPECT_EQ(all.data[0], past_keys.data[0]);
  EXPECT_EQ(all.data[kPast * kSize], keys.data[0]);
}

// Weights that copy the input to queries, keys and values, each times its own number.
TEST(MultiHeadAttention, PackedWeightsMakeAllThree) {
  OnnxModel model;
  std::vector<float> weights(kWidth * 3 * kWidth, 0);
  for (size_t i = 0; i < kWidth; ++i)
    for (size_t part = 0; part < 3; ++part)
      weights[i * 3 * kWidth + part * kWidth + i] = 1 + static_cast<float>(part);
  model.input("x", {kBatch, kKeys, kWidth}).input("m", {kBatch, kKeys}, kI32);
  model.initializer("w", {kWidth, 3 * kWidth}, weights)
      .initializer("b", {3 * kWidth}, std::vector<float>(3 * kWidth, 0));
  model.runtime_node("n", "Attention", {"x", "w", "b", "m"}, "y")
      .gives("present")
      .attribute("num_heads", kHeads);
  model.output("y").output("present");
  const Values x = drawn({kBatch, kKeys, kWidth}, 1);
  Values k = x, v = x;
  for (double& value : k.data) value *= 2;
  for (double& value : v.data) value *= 3;
  const std::vector<Values> in{x, {{kBatch, kKeys}, {1, 1, 1, 0, 0, 1, 1, 1, 1, 1}, DType::i32}};
  expect_near(run_network(model, in).data, attention(x, k, v, [&](int64_t n, int64_t, int64_t, int64_t key) {
                return in[1].data[static_cast<size_t>(n * kKeys + key)] > 0 ? 0.0 : -10000.0;
              }));
  const Values present = run_network(model, in, 1);
  EXPECT_EQ(present.shape, (Shape{2, kBatch, kHeads, kKeys, kSize}));
  EXPECT_NEAR(present.data.at(0), k.data[0], 1e-6);
  EXPECT_NEAR(present.data.at(present.data.size() / 2), v.data[0], 1e-6);
}

// The same of integers less 128, which are whole multiples of 1/64.
TEST(MultiHeadAttention, PackedWeightsMayBeQuantized) {
  OnnxModel model;
  const auto add = [&](const char* name, const Shape& shape, int32_t zero, auto number) {
    onnx::TensorProto& tensor = *model.proto.mutable_graph()->add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(onnx::TensorProto_DataType_UINT8);
    for (const int64_t extent : shape) tensor.add_dims(extent);
    for (int64_t i = 0; i < elements_of(shape); ++i) tensor.add_int32_data(zero + number(i));
  };
  model.input("x", {kBatch, kKeys, kWidth}, onnx::TensorProto_DataType_UINT8);
  add("w", {kWidth, 3 * kWidth}, 3, [](int64_t i) {
    return i % (3 * kWidth) % kWidth == i / (3 * kWidth) ? static_cast<int32_t>(1 + i % (3 * kWidth) / kWidth)
                                                         : 0;
  });
  add("xz", {}, 128, [](int64_t) { return 0; });
  add("wz", {}, 3, [](int64_t) { return 0; });
  model.initializer("b", {3 * kWidth}, std::vector<float>(3 * kWidth, 0)).initializer("s", {}, {1 / 64.0F});
  model.initializer("one", {}, {1});
  model.runtime_node("n", "QAttention", {"x", "w", "b", "s", "one", "", "xz", "wz"}, "y");
  model.attribute("num_heads", kHeads).output("y");
  Values x = drawn({kBatch, kKeys, kWidth}, 1), numbers{x.shape, {}, DType::u8};
  for (double& value : x.data) {
    value = std::round(value * 64);
    numbers.data.push_back(value + 128);
    value /= 64;
  }
  Values k = x, v = x;
  for (double& value : k.data) value *= 2;
  for (double& value : v.data) value *= 3;
  expect_near(run_network(model, {numbers}).data, attention(x, k, v, no_bias));
}

TEST(MultiHeadAttention, RefusesWhatDoesNotFit) {
  OnnxModel model = attention_model();
  model.runtime_node("n", "MultiHeadAttention", {"q", "k", "v"}, "y");
  EXPECT_EQ(import_error(model),
            "node 'n' (MultiHeadAttention): attribute 'num_heads' is missing or below 1");
  model.attribute("num_heads", 3);
  EXPECT_EQ(import_error(model),
            "node 'n' (MultiHeadAttention): 8 numbers a place do not divide among 3 heads");
  OnnxModel other;
  other.input("q", {2, 3, 8}).input("k", {2, 4, 5, 4}).input("v", {2, 4, 5, 4}).output("y");
  other.runtime_node("n", "MultiHeadAttention", {"q", "k", "v"}, "y").attribute("num_heads", 2);
  EXPECT_EQ(
      import_error(other),
      "node 'n' (MultiHeadAttention): input 1 has shape [2,4,5,4], and must have 3 axes, or 4 with its 2 "
      "heads");
}

}  // namespace
}  // namespace lathe
