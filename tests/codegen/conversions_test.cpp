// Casts to and from the types that are narrower than what is computed in, on every backend.
#include <cmath>
#include <limits>

#include "base/half_float.h"
#include "codegen/backend_test.h"

namespace lathe::testing {
namespace {

constexpr int kLanes = 8;

class ConversionsTest : public BackendTest {
 protected:
  // value(x[i]) for all i, most of them in vectors.
  std::vector<double> converted(DType from, DType to, const std::vector<double>& x,
                                const std::function<Expr(const Expr&)>& value) {
    LoweredBuilder builder;
    const auto count = static_cast<int64_t>(x.size());
    const Tensor in = builder.input("in", count, from);
    const Tensor out = builder.output("out", count, to);
    const Var i("i");
    const Var rest("rest");
    const int64_t vectors = (count - 1) / kLanes;
    const Affine tail = Affine(rest) + vectors * kLanes;
    builder.main(make_seq(
        {loop(i, vectors,
              vector_store(out, Affine(i) * kLanes, value(vector_load(in, Affine(i) * kLanes, kLanes)))),
         loop(rest, count - vectors * kLanes, store(out, tail, value(load(in, {tail}))))}));
    return result(builder.lowered(), {x});
  }
  std::vector<double> converted(DType from, DType to, const std::vector<double>& x) {
    return converted(from, to, x, [&](const Expr& e) { return cast({to, e.type().lanes}, e); });
  }
};
INSTANTIATE_TEST_SUITE_P(Backends, ConversionsTest, kAllBackends, backend_name);

bool is_same(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

void expect_same(const std::vector<double>& got, const std::vector<double>& expected,
                 const std::vector<double>& of) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_TRUE(is_same(got[i], expected[i])) << of[i] << " gives " << got[i] << ", not " << expected[i];
}

std::vector<double> all_of(const HalfFormat& format) {
  std::vector<double> values;
  for (int bits = 0; bits < 0x10000; ++bits)
    values.push_back(value_of_half(format, static_cast<uint16_t>(bits)));
  return values;
}

TEST_P(ConversionsTest, EveryHalfFloatIsWidenedExactly) {
  for (const auto& [dtype, format] : {std::pair(DType::f16, kF16), std::pair(DType::bf16, kBf16)}) {
    const std::vector<double> values = all_of(format);
    expect_same(converted(dtype, DType::f32, values), values, values);
  }
}

// Each number of the format, the middle to the next one, and what lies just beside that.
std::vector<double> hard_to_round(const HalfFormat& format) {
  std::vector<double> values = {0x1p-149, -0x1p-149, 3.4e38,  -3.4e38,  65519.99,
                                65520,    1e5,       0x1p-25, 0x1.8p-25};
  for (int bits = 0; bits < 0x10000; bits += 3) {
    const double value = value_of_half(format, static_cast<uint16_t>(bits));
    const double next = value_of_half(format, static_cast<uint16_t>(bits + 1));
    values.push_back(value);
    if (!std::isfinite(value) || !std::isfinite(next)) continue;
    const auto middle = static_cast<float>((value + next) / 2);
    for (const float near : {std::nextafter(middle, -INFINITY), middle, std::nextafter(middle, INFINITY)})
      values.push_back(static_cast<double>(near));
  }
  return values;
}

TEST_P(ConversionsTest, HalfFloatsAreRoundedToNearestEven) {
  for (const auto& [dtype, format] : {std::pair(DType::f16, kF16), std::pair(DType::bf16, kBf16)}) {
    const std::vector<double> values = hard_to_round(format);
    std::vector<double> expected;
    for (const double value : values) expected.push_back(value_of_half(format, half_of_value(format, value)));
    expect_same(converted(DType::f32, dtype, values), expected, values);
  }
}

TEST_P(ConversionsTest, FloatsSaturateAsIntegers) {
  const std::vector<double> values = {std::numeric_limits<double>::quiet_NaN(),
                                      INFINITY,
                                      -INFINITY,
                                      -0.99,
                                      -1,
                                      0.5,
                                      254.9,
                                      255,
                                      255.5,
                                      256,
                                      300,
                                      -300,
                                      32767.5,
                                      32768,
                                      -32768.9,
                                      -32769,
                                      65535.9,
                                      65536,
                                      1e30,
                                      -1e30,
                                      7};
  const auto clamped = [&](double least, double most) {
    std::vector<double> expected;
    for (const double value : values)
      expected.push_back(std::isnan(value) ? 0 : std::trunc(std::min(std::max(value, least), most)) + 0.0);
    return expected;
  };
  for (const DType from : {DType::f32, DType::f64}) {
    EXPECT_EQ(converted(from, DType::u8, values), clamped(0, 255));
    EXPECT_EQ(converted(from, DType::i16, values), clamped(-32768, 32767));
    EXPECT_EQ(converted(from, DType::u16, values), clamped(0, 65535));
    const std::vector<double> large = {-1, NAN, 0x1p31, 0x1p32, 0x1p63, 0x1p64, INFINITY, 0.75};
    EXPECT_EQ(converted(from, DType::u32, large),
              (std::vector<double>{0, 0, 0x1p31, 4294967295.0, 4294967295.0, 4294967295.0, 4294967295.0, 0}));
    EXPECT_EQ(converted(from, DType::u64, large),
              (std::vector<double>{0, 0, 0x1p31, 0x1p32, 0x1p63, 0x1p64, 0x1p64, 0}));
  }
}

TEST_P(ConversionsTest, IntegersWithoutSignKeepTheirValueWhereTheyGrow) {
  const std::vector<double> bytes = {0, 1, 127, 128, 200, 255, 3, 254, 129, 77, 255};
  for (const DType to : {DType::i16, DType::u16, DType::i32, DType::i64, DType::f32, DType::f64})
    EXPECT_EQ(converted(DType::u8, to, bytes), bytes) << to_string(to);
  const std::vector<double> words = {0, 1, 32767, 32768, 65535, 9, 8, 7, 6, 40000};
  for (const DType to : {DType::i32, DType::i64, DType::f32, DType::f64})
    EXPECT_EQ(converted(DType::u16, to, words), words) << to_string(to);
}

TEST_P(ConversionsTest, IntegersWrapAroundWhereTheyShrink) {
  const std::vector<double> values = {-1, 256, 300, -129, 65535, 65536, -32769, 0x1p31 - 1, -0x1p31};
  const std::vector<double> unsigned_values = {0, 4294967295.0, 2147483648.0};
  for (const DType to : {DType::u64, DType::i64, DType::f64})
    EXPECT_EQ(converted(DType::u32, to, unsigned_values), unsigned_values) << to_string(to);
  EXPECT_EQ(converted(DType::u64, DType::f32, {0x1p63, 0x1p63 + 0x1p40}),
            (std::vector<double>{0x1p63, 0x1p63 + 0x1p40}));
  EXPECT_EQ(converted(DType::i32, DType::u64, {-1, 5}), (std::vector<double>{0x1p64, 5}));
  EXPECT_EQ(converted(DType::i32, DType::u8, values),
            (std::vector<double>{255, 0, 44, 127, 255, 0, 255, 255, 0}));
  EXPECT_EQ(converted(DType::i32, DType::i16, values),
            (std::vector<double>{-1, 256, 300, -129, -1, 0, 32767, -1, 0}));
  EXPECT_EQ(converted(DType::i32, DType::u16, values),
            (std::vector<double>{65535, 256, 300, 65407, 65535, 0, 32767, 65535, 0}));
}

}  // namespace
}  // namespace lathe::testing
