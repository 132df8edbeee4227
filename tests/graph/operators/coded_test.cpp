// Numbers of 8 bits and fewer: what their codes stand for, and the nearest of them. The reference takes them
// from tables, the network computes them (`run_network` compares both).
#include "graph/operators/coded.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "graph/network_runner.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

constexpr Code kFloatCodes[] = {Code::f8e4m3fn,   Code::f8e4m3fnuz, Code::f8e5m2,
                                Code::f8e5m2fnuz, Code::f8e8m0,     Code::f4e2m1};

// As ONNX numbers them.
int number_of(Code code) {
  constexpr int kNumbers[] = {17, 18, 19, 20, 24, 23, 22, 21, 26, 25};
  return kNumbers[static_cast<size_t>(code)];
}

std::vector<double> cast(int from, int to, const std::vector<double>& x, int64_t saturate = 1,
                         const char* round_mode = "up") {
  OnnxModel model;
  const Shape shape = {static_cast<int64_t>(x.size())};
  model.operator_set(24);
  model.input("x", shape, from).node("n", "Cast", {"x"}, "y").attribute("to", int64_t{to});
  model.attribute("saturate", saturate).attribute("round_mode", round_mode).output("y");
  return run_network(model, {{shape, x}}).data;
}

constexpr int kFloat = onnx::TensorProto_DataType_FLOAT;

TEST(Code, StandsForItsNumber) {
  EXPECT_EQ(value_of_code(Code::f8e4m3fn, 0x7e), 448);
  EXPECT_EQ(value_of_code(Code::f8e4m3fn, 0x81), -0x1p-9);
  EXPECT_TRUE(std::isnan(value_of_code(Code::f8e4m3fn, 0xff)));
  EXPECT_EQ(value_of_code(Code::f8e4m3fnuz, 0x7f), 240);
  EXPECT_TRUE(std::isnan(value_of_code(Code::f8e4m3fnuz, 0x80)));
  EXPECT_EQ(value_of_code(Code::f8e5m2, 0x7b), 57344);
  EXPECT_EQ(value_of_code(Code::f8e5m2, 0xfc), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(value_of_code(Code::f8e5m2fnuz, 0x01), 0x1p-17);
  EXPECT_EQ(value_of_code(Code::f8e8m0, 0), 0x1p-127);
  EXPECT_EQ(value_of_code(Code::f8e8m0, 254), 0x1p127);
  EXPECT_EQ(value_of_code(Code::f4e2m1, 7), 6);
  EXPECT_EQ(value_of_code(Code::f4e2m1, 9), -0.5);
  EXPECT_EQ(value_of_code(Code::i4, 0xf8), -8);
  EXPECT_EQ(value_of_code(Code::u4, 0xff), 15);
  EXPECT_EQ(value_of_code(Code::i2, 3), -1);
  EXPECT_EQ(value_of_code(Code::u2, 3), 3);
}

TEST(Code, EveryOneIsReadAndWritten) {
  for (const Code code : kFloatCodes) {
    SCOPED_TRACE(to_string(code));
    std::vector<double> codes, numbers;
    for (int bits = 0; bits < (1 << bits_of(code)); ++bits) {
      codes.push_back(bits);
      numbers.push_back(value_of_code(code, static_cast<uint8_t>(bits)));
    }
    const std::vector<double> read = cast(number_of(code), kFloat, codes);
    const std::vector<double> written = cast(kFloat, number_of(code), numbers, 0, "down");
    for (size_t i = 0; i < codes.size(); ++i) {
      if (std::isnan(numbers[i])) {
        EXPECT_TRUE(std::isnan(read[i])) << i;
        EXPECT_TRUE(std::isnan(value_of_code(code, static_cast<uint8_t>(written[i])))) << i;
        continue;
      }
      EXPECT_EQ(read[i], numbers[i]) << i;
      EXPECT_EQ(std::signbit(read[i]), std::signbit(numbers[i])) << i;
      EXPECT_EQ(written[i], codes[i]);
    }
  }
}

TEST(Code, NumbersGoToTheNearestOfTwoTheEven) {
  const auto nearest = [](Code code, const std::vector<double>& x, int64_t saturate) {
    std::vector<double> numbers;
    for (const double bits : cast(kFloat, number_of(code), x, saturate))
      numbers.push_back(value_of_code(code, static_cast<uint8_t>(bits)));
    return numbers;
  };
  const std::vector<double> x = {17, 19, 0x1p-10, 0x1.8p-9, 464, -1e30, 1.06};
  EXPECT_EQ(nearest(Code::f8e4m3fn, x, 1), (std::vector<double>{16, 20, 0, 0x1p-8, 448, -448, 1}));
  EXPECT_EQ(nearest(Code::f8e5m2, {4.5, 5.5, 1e30}, 1), (std::vector<double>{4, 6, 57344}));
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(nearest(Code::f8e5m2, {61440, 61439, -infinity}, 0),
            (std::vector<double>{infinity, 57344, -infinity}));
  EXPECT_TRUE(std::isnan(nearest(Code::f8e4m3fn, {465}, 0)[0]));
  EXPECT_EQ(nearest(Code::f8e4m3fnuz, {-1e-30}, 1), (std::vector<double>{0}));
  EXPECT_EQ(nearest(Code::f4e2m1, {0.25, 0.75, 5, -9, 2.6}, 0), (std::vector<double>{0, 1, 4, -6, 3}));
}

TEST(Code, PowersOfTwoAreRoundedAsTheNodeSays) {
  const std::vector<double> x = {1, 1.25, 1.5, 1.75, 3e38, NAN};
  const auto powers = [&](const char* mode) {
    std::vector<double> codes = cast(kFloat, number_of(Code::f8e8m0), x, 1, mode);
    for (double& code : codes) code -= 127;
    return codes;
  };
  EXPECT_EQ(powers("up"), (std::vector<double>{0, 1, 1, 1, 127, 128}));
  EXPECT_EQ(powers("down"), (std::vector<double>{0, 0, 0, 0, 127, 128}));
  EXPECT_EQ(powers("nearest"), (std::vector<double>{0, 0, 1, 1, 127, 128}));
}

TEST(Code, IntegersKeepTheirLowestBits) {
  EXPECT_EQ(cast(kFloat, number_of(Code::i4), {7, 8, -9, 3.7}), (std::vector<double>{7, -8, 7, 3}));
  EXPECT_EQ(cast(kFloat, number_of(Code::u4), {15, 16, -1}), (std::vector<double>{15, 0, 15}));
  EXPECT_EQ(cast(kFloat, number_of(Code::i2), {1, 2, -3}), (std::vector<double>{1, -2, 1}));
  EXPECT_EQ(cast(kFloat, number_of(Code::u2), {3, 5}), (std::vector<double>{3, 1}));
  EXPECT_EQ(integers_of(Code::i4), (Interval{-8, 7}));
  EXPECT_EQ(integers_of(Code::u2), (Interval{0, 3}));
}

}  // namespace
}  // namespace lathe
