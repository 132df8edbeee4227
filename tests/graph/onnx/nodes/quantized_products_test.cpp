// Products of quantized numbers beside what the standard's formulas give, number by number.
#include "graph/onnx/nodes/quantized_products.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "base/rng.h"
#include "graph/network_runner.h"
#include "graph/onnx/import.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

using Numbers = std::vector<double>;

constexpr int kU8 = onnx::TensorProto_DataType_UINT8;
constexpr int kI8 = onnx::TensorProto_DataType_INT8;
constexpr int kI32 = onnx::TensorProto_DataType_INT32;

Values drawn(Rng& rng, const Shape& shape, int type) {
  Values values{shape, {}, type == kU8 ? DType::u8 : type == kI8 ? DType::i8 : DType::i32};
  const int64_t least = type == kU8 ? 0 : -128;
  for (int64_t i = 0; i < elements_of(shape); ++i)
    values.data.push_back(static_cast<double>(rng.between(least, least + 255)));
  return values;
}

void add_initializer(OnnxModel& model, const std::string& name, int type, const Values& values) {
  onnx::TensorProto& tensor = *model.proto.mutable_graph()->add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(type);
  for (const int64_t extent : values.shape) tensor.add_dims(extent);
  for (const double value : values.data) tensor.add_int32_data(static_cast<int32_t>(value));
}

// The zero point of a place along one axis; 0 without any.
double zero_at(const std::optional<Values>& zero, int64_t place) {
  if (!zero) return 0;
  return zero->data[zero->data.size() == 1 ? 0 : static_cast<size_t>(place)];
}

struct MatMulCase {
  Shape a, b;
  int a_type = kU8, b_type = kI8;
  std::optional<Shape> a_zero = {}, b_zero = {};  // their shapes
  bool b_is_constant = true;
};

std::string described(const MatMulCase& c) {
  return fmt::format("{} {} {} {} {}", to_string(c.a), to_string(c.b), c.a_type, c.b_type,
                     c.a_zero ? to_string(*c.a_zero) : "");
}

// sum over k of (a - p)(b - q), of the last two axes; b of two axes serves all.
Numbers expected_matmul(const Values& a, const Values& b, const std::optional<Values>& p,
                        const std::optional<Values>& q) {
  const bool a_is_row = a.shape.size() == 1, b_is_column = b.shape.size() == 1;
  const int64_t k = a.shape.back();
  const int64_t m = a_is_row ? 1 : a.shape[a.shape.size() - 2], n = b_is_column ? 1 : b.shape.back();
  const int64_t batch = elements_of(a.shape) / (m * k);
  const bool b_has_batch = b.shape.size() > 2;
  Numbers result;
  for (int64_t t = 0; t < batch; ++t)
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t r = 0; r < k; ++r) {
          const double x = a.data[static_cast<size_t>((t * m + i) * k + r)] - zero_at(p, i);
          const double y =
              b.data[static_cast<size_t>(((b_has_batch ? t * k : 0) + r) * n + j)] - zero_at(q, j);
          sum += x * y;
        }
        result.push_back(sum);
      }
  return result;
}

TEST(OnnxQuantizedProducts, MatMulIntegerTakesZeroPointsOff) {
  const std::vector<MatMulCase> cases = {
      {{5, 7}, {7, 9}},
      {{5, 7}, {7, 9}, kU8, kI8, Shape{}, std::nullopt},
      {{5, 7}, {7, 9}, kU8, kI8, Shape{5}, Shape{9}},
      {{5, 7}, {7, 9}, kI8, kI8, Shape{1}, Shape{1}},
      {{5, 7}, {7, 9}, kU8, kU8, std::nullopt, Shape{9}},
      {{5, 7}, {7, 9}, kI8, kU8, Shape{5}, Shape{9}, false},
      {{2, 5, 7}, {7, 9}, kU8, kI8, Shape{}, Shape{}},
      {{2, 5, 7}, {2, 7, 9}, kU8, kI8, Shape{}, Shape{9}, false},
      {{7}, {7, 9}, kU8, kI8, Shape{}, Shape{9}},
      {{5, 7}, {7}, kU8, kI8, Shape{}, Shape{}},
      {{5, 7}, {7}, kU8, kI8, Shape{5}, std::nullopt},
  };
  Rng rng(3);
  for (const MatMulCase& c : cases) {
    OnnxModel model;
    model.operator_set(13).input("a", c.a, c.a_type);
    const Values a = drawn(rng, c.a, c.a_type), b = drawn(rng, c.b, c.b_type);
    std::vector<Values> inputs{a};
    if (c.b_is_constant) {
      add_initializer(model, "b", c.b_type, b);
    } else {
      model.input("b", c.b, c.b_type);
      inputs.push_back(b);
    }
    std::optional<Values> p, q;
    std::vector<std::string> reads{"a", "b"};
    if (c.a_zero || c.b_zero) reads.emplace_back(c.a_zero ? "p" : "");
    if (c.a_zero) add_initializer(model, "p", c.a_type, *(p = drawn(rng, *c.a_zero, c.a_type)));
    if (c.b_zero) reads.emplace_back("q");
    if (c.b_zero) add_initializer(model, "q", c.b_type, *(q = drawn(rng, *c.b_zero, c.b_type)));
    model.node("n", "MatMulInteger", reads, "y").output("y");
    EXPECT_EQ(run_network(model, inputs).data, expected_matmul(a, b, p, q)) << described(c);
  }
}

struct ConvCase {
  Shape x, w;
  int x_type = kU8, w_type = kI8;
  std::optional<double> x_zero = {};
  std::optional<Shape> w_zero = {};
  int64_t pad = 0, stride = 1, groups = 1;
  bool x_zero_is_constant = true;
};

// Images of two axes.
Numbers expected_conv(const ConvCase& c, const Values& x, const Values& w, const std::optional<Values>& q) {
  const int64_t maps = c.w[0], channels = c.w[1], kernel = c.w[2], height = c.x[2], width = c.x[3];
  const int64_t rows = (height + 2 * c.pad - kernel) / c.stride + 1;
  const int64_t columns = (width + 2 * c.pad - kernel) / c.stride + 1;
  Numbers result;
  for (int64_t m = 0; m < maps; ++m)
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) {
        double sum = 0;
        for (int64_t ch = 0; ch < channels; ++ch)
          for (int64_t r = 0; r < kernel; ++r)
            for (int64_t s = 0; s < kernel; ++s) {
              const int64_t y = i * c.stride + r - c.pad, z = j * c.stride + s - c.pad;
              if (y < 0 || y >= height || z < 0 || z >= width) continue;
              const int64_t channel = m / (maps / c.groups) * channels + ch;
              const double data = x.data[static_cast<size_t>((channel * height + y) * width + z)];
              const double weight =
                  w.data[static_cast<size_t>(((m * channels + ch) * kernel + r) * kernel + s)];
              sum += (data - c.x_zero.value_or(0)) * (weight - zero_at(q, m));
            }
        result.push_back(sum);
      }
  return result;
}

// A model of the convolution alone, or of it, scales and a bias; what it is given, and the weights' zero
// points.
struct ConvModel {
  OnnxModel model;
  std::vector<Values> inputs;
  Values w;
  std::optional<Values> q;
};

ConvModel conv_model(Rng& rng, const ConvCase& c, const std::vector<std::string>& reads, const char* type) {
  ConvModel made;
  OnnxModel& model = made.model;
  model.operator_set(13).input("x", c.x, c.x_type);
  made.inputs.push_back(drawn(rng, c.x, c.x_type));
  add_initializer(model, "w", c.w_type, made.w = drawn(rng, c.w, c.w_type));
  const Values zero{{}, {c.x_zero.value_or(0)}, made.inputs.front().dtype};
  if (c.x_zero && c.x_zero_is_constant) add_initializer(model, "p", c.x_type, zero);
  if (c.x_zero && !c.x_zero_is_constant) {
    model.input("p", {}, c.x_type);
    made.inputs.push_back(zero);
  }
  if (c.w_zero) add_initializer(model, "q", c.w_type, *(made.q = drawn(rng, *c.w_zero, c.w_type)));
  model.node("n", type, reads, "y");
  model.attribute("pads", {c.pad, c.pad, c.pad, c.pad}).attribute("strides", {c.stride, c.stride});
  model.attribute("group", c.groups).output("y");
  return made;
}

TEST(OnnxQuantizedProducts, ConvIntegerPadsWithTheZeroPoint) {
  const std::vector<ConvCase> cases = {
      {{1, 4, 6, 7}, {3, 4, 3, 3}},
      {{1, 4, 6, 7}, {3, 4, 3, 3}, kU8, kI8, std::nullopt, std::nullopt, 1},
      {{1, 4, 6, 7}, {3, 4, 3, 3}, kU8, kI8, 131.0, std::nullopt, 1, 2},
      {{1, 4, 6, 7}, {4, 2, 3, 3}, kI8, kI8, -5.0, std::nullopt, 1, 1, 2},
      {{1, 4, 6, 7}, {4, 1, 3, 3}, kU8, kU8, 7.0, Shape{}, 1, 1, 4},
      {{1, 4, 6, 7}, {3, 4, 3, 3}, kU8, kI8, 7.0, Shape{3}, 1},
      {{1, 4, 6, 7}, {3, 4, 3, 3}, kU8, kI8, 99.0, std::nullopt, 1, 1, 1, false},
      {{1, 4, 6, 7}, {3, 4, 1, 1}, kU8, kI8, 99.0, std::nullopt},
  };
  Rng rng(5);
  for (size_t i = 0; i < cases.size(); ++i) {
    const ConvCase& c = cases[i];
    std::vector<std::string> reads{"x", "w"};
    if (c.x_zero || c.w_zero) reads.emplace_back(c.x_zero ? "p" : "");
    if (c.w_zero) reads.emplace_back("q");
    const ConvModel made = conv_model(rng, c, reads, "ConvInteger");
    EXPECT_EQ(run_network(made.model, made.inputs).data,
              expected_conv(c, made.inputs.front(), made.w, made.q))
        << i;
  }
}

// Halves go to the even number.
double requantized(double sum, double scale, double zero, bool is_signed) {
  const double rounded = std::nearbyint(static_cast<float>(sum) * static_cast<float>(scale)) + zero;
  return std::clamp(rounded, is_signed ? -128.0 : 0.0, is_signed ? 127.0 : 255.0);
}

TEST(OnnxQuantizedProducts, QLinearConvScalesEachMapAndAddsItsBias) {
  Rng rng(6);
  const ConvCase c{{1, 4, 6, 7}, {3, 4, 3, 3}, kU8, kI8, 120.0, Shape{3}, 1};
  for (const bool has_bias : {false, true}) {
    for (const bool has_weight_zeros : {false, true}) {
      std::vector<std::string> reads{"x", "xs", "p", "w", "ws", "q", "ys", "yz"};
      if (has_bias) reads.emplace_back("b");
      ConvModel made = conv_model(rng, c, reads, "QLinearConv");
      if (!has_weight_zeros) {
        made.q->data.assign(3, 0);
        for (int& zero : *made.model.proto.mutable_graph()->mutable_initializer(2)->mutable_int32_data())
          zero = 0;
      }
      made.model.initializer("xs", {}, {0.5F}).initializer("ws", {3}, {0.25F, 0.125F, 0.0625F});
      made.model.initializer("ys", {}, {64}).integers("unused", {0});
      add_initializer(made.model, "yz", kU8, {{}, {100}});
      add_initializer(made.model, "b", kI32, {{3}, {1000, -50000, 7}});
      const Numbers sums = expected_conv(c, made.inputs.front(), made.w, made.q);
      Numbers expected;
      for (size_t i = 0; i < sums.size(); ++i) {
        const size_t map = i / (sums.size() / 3);
        const double bias = has_bias ? Numbers{1000, -50000, 7}[map] : 0;
        expected.push_back(
            requantized(sums[i] + bias, Numbers{0.25, 0.125, 0.0625}[map] * 0.5 / 64, 100, false));
      }
      EXPECT_EQ(run_network(made.model, made.inputs).data, expected) << has_bias << has_weight_zeros;
    }
  }
}

TEST(OnnxQuantizedProducts, QLinearMatMulScalesRowsAndColumns) {
  Rng rng(8);
  OnnxModel model;
  model.operator_set(21).input("a", {2, 8}, kI8).initializer("as", {2}, {1, 0.5F});
  const Values a = drawn(rng, {2, 8}, kI8), b = drawn(rng, {8, 3}, kI8);
  add_initializer(model, "ap", kI8, {{2}, {3, -4}});
  add_initializer(model, "b", kI8, b);
  model.initializer("bs", {3}, {1, 0.25F, 2}).initializer("ys", {1}, {512});
  add_initializer(model, "bp", kI8, {{3}, {0, 1, -2}});
  add_initializer(model, "yp", kI8, {{1}, {-7}});
  model.node("n", "QLinearMatMul", {"a", "as", "ap", "b", "bs", "bp", "ys", "yp"}, "y").output("y");
  const Numbers sums = expected_matmul(a, b, Values{{2}, {3, -4}}, Values{{3}, {0, 1, -2}});
  Numbers expected;
  for (size_t i = 0; i < sums.size(); ++i) {
    const double scale = Numbers{1, 0.5}[i / 3] * Numbers{1, 0.25, 2}[i % 3] / 512;
    expected.push_back(requantized(sums[i], scale, -7, true));
  }
  EXPECT_EQ(run_network(model, {a}).data, expected);
}

TEST(OnnxQuantizedProducts, OtherTypesAreRefused) {
  OnnxModel model;
  model.operator_set(13).input("a", {2, 3}, onnx::TensorProto_DataType_INT16).input("b", {3, 2}, kI8);
  model.node("n", "MatMulInteger", {"a", "b"}, "y").output("y");
  const auto graph = import_onnx_bytes(model.bytes(), "m");
  ASSERT_FALSE(graph);
  EXPECT_NE(graph.error().message.find("input 0 is of type i16, and Lathe supports i8 and u8 here"),
            std::string::npos)
      << graph.error().message;
}

}  // namespace
}  // namespace lathe
