// What expressions compute, on every backend.
#include <cmath>
#include <functional>

#include "codegen/backend_test.h"

namespace lathe::testing {
namespace {

class ArithmeticTest : public BackendTest {
 protected:
  // value(x[i], y[i]) for all i, of that element type.
  std::vector<double> apply(DType dtype, const std::vector<double>& x, const std::vector<double>& y,
                            const std::function<Expr(const Expr&, const Expr&)>& value) {
    LoweredBuilder builder;
    const auto count = static_cast<int64_t>(x.size());
    const Tensor a = builder.input("a", count, dtype);
    const Tensor b = builder.input("b", count, dtype);
    const Tensor out = builder.output("out", count, dtype);
    const Var i("i");
    return map(builder, out, i, value(load(a, {i}), load(b, {i})), {x, y});
  }
};
INSTANTIATE_TEST_SUITE_P(Backends, ArithmeticTest, kAllBackends, backend_name);

TEST_P(ArithmeticTest, DivisionsOfIndicesRoundDown) {
  LoweredBuilder builder;
  const Tensor out = builder.output("out", 40);
  const Var i("i");
  const Affine shifted = Affine(i) * 3 - 50;
  const Affine value = floor_div(shifted, 7) * 100 + modulo(shifted, 7) +
                       floor_div(Affine(i) + 1, 8) * 10000 + modulo(shifted, 4) * 100000;
  std::vector<double> expected;
  for (int n = 0; n < 40; ++n) {
    const double x = 3 * n - 50;
    const double down = std::floor(x / 7);
    expected.push_back(down * 100 + (x - 7 * down) + std::floor((n + 1) / 8.0) * 10000 +
                       (x - 4 * std::floor(x / 4)) * 100000);
  }
  EXPECT_EQ(map(builder, out, i, cast({DType::f32, 1}, Expr(value)), {}), expected);
}

TEST_P(ArithmeticTest, IntegersDivideDownAndWrapAround) {
  constexpr double kLeast = -2147483648.0;
  const std::vector<double> x = {-7, -9, 7, -7, 0, kLeast};
  const std::vector<double> y = {2, -2, 3, -3, 2, -1};
  using Row = std::vector<double>;
  const auto with = [&](auto value) { return apply(DType::i32, x, y, value); };
  EXPECT_EQ(with([](const Expr& a, const Expr& b) { return a / b; }), (Row{-4, 4, 2, 2, 0, kLeast}));
  EXPECT_EQ(with([](const Expr& a, const Expr& b) { return a % b; }), (Row{1, -1, 1, -1, 0, 0}));
  EXPECT_EQ(with([](const Expr& a, const Expr& b) { return min(a, b); }), (Row{-7, -9, 3, -7, 0, kLeast}));
  EXPECT_EQ(with([](const Expr& a, const Expr& b) { return max(a, b); }), (Row{2, -2, 7, -3, 2, -1}));
  EXPECT_EQ(with([](const Expr& a, const Expr& b) { return a * b + b; }),
            (Row{-12, 16, 24, 18, 2, 2147483647.0}));
  EXPECT_EQ(with([](const Expr& a, const Expr&) { return abs(a); }), (Row{7, 9, 7, 7, 0, kLeast}));
  EXPECT_EQ(with([](const Expr& a, const Expr& b) { return -a - b; }),
            (Row{5, 11, -10, 10, -2, -2147483647.0}));
}

// All of these are exact where they are kept as doubles.
TEST_P(ArithmeticTest, LongIntegersWrapAround) {
  const std::vector<double> x = {0x1p31 + 1, 0x1p32, 0x1p62, 0x1p32 - 1, -0x1p62, -3};
  const std::vector<double> y = {0x1p31 - 1, 0x1p32, 2, 0x1p21, 3, 7};
  using Row = std::vector<double>;
  const auto with = [&](auto value) { return apply(DType::i64, x, y, value); };
  const auto product = [](const Expr& a, const Expr& b) { return a * b; };
  EXPECT_EQ(with(product), (Row{0x1p62 - 1, 0, -0x1p63, 0x1p53 - 0x1p21, 0x1p62, -21}));
  EXPECT_EQ(with([](const Expr& a, const Expr&) { return a + a + a + a; }),
            (Row{0x1p33 + 4, 0x1p34, 0, 0x1p34 - 4, 0, -12}));
  EXPECT_EQ(with([](const Expr& a, const Expr&) { return a * Expr(1 << 30) * Expr(1 << 30); }),
            (Row{0x1p60, 0, 0, -0x1p60, 0, -0x3p60}));
}

// Half of them are beyond what the signed type of the width holds.
TEST_P(ArithmeticTest, UnsignedIntegersHaveNoSign) {
  using Row = std::vector<double>;
  for (const auto& [dtype, large] : {std::pair(DType::u32, 0x1p31), std::pair(DType::u64, 0x1p63)}) {
    const Row x = {large, large, 7, 6 * large / 4, large, 3};
    const Row y = {2, large, large, large / 2, 0, large};
    const auto with = [&](auto value) { return apply(dtype, x, y, value); };
    EXPECT_EQ(with([](const Expr& a, const Expr& b) { return a / b; }), (Row{large / 2, 1, 0, 3, 0, 0}));
    EXPECT_EQ(with([](const Expr& a, const Expr& b) { return a % b; }), (Row{0, 0, 7, 0, large, 3}));
    EXPECT_EQ(with([](const Expr& a, const Expr& b) { return min(a, b); }),
              (Row{2, large, 7, large / 2, 0, 3}));
    EXPECT_EQ(with([](const Expr& a, const Expr& b) { return max(a, b); }),
              (Row{large, large, large, 6 * large / 4, large, large}));
    EXPECT_EQ(with([](const Expr& a, const Expr& b) { return a + b; }),
              (Row{large + 2, 0, large + 7, 0, large, large + 3}));
    EXPECT_EQ(with([](const Expr& a, const Expr&) { return abs(a); }), x);
    EXPECT_EQ(with([type = Type{dtype}](const Expr& a, const Expr& b) {
                return select(a < b, literal(type, 1), literal(type, 0));
              }),
              (Row{0, 0, 1, 0, 0, 1}));
  }
}

// What the mathematics library gives, on scalars and on vectors.
TEST_P(ArithmeticTest, FunctionsOfDoubles) {
  const std::vector<double> x = {0.5, 1.25, 2, 1e-3, 3, 0.75};
  const std::vector<double> y = {2, 0.3, -1, 2, 0.7, 5};
  const auto of = [&](const auto& function, const auto& value) {
    std::vector<double> expected;
    for (size_t i = 0; i < x.size(); ++i) expected.push_back(value(x[i], y[i]));
    const std::vector<double> got = apply(DType::f64, x, y, function);
    for (size_t i = 0; i < x.size(); ++i)
      EXPECT_LE(std::abs(got[i] - expected[i]), 0x1p-51 * std::abs(expected[i])) << i;
  };
  of([](const Expr& a, const Expr&) { return exp(a); }, [](double a, double) { return std::exp(a); });
  of([](const Expr& a, const Expr&) { return log(a); }, [](double a, double) { return std::log(a); });
  of([](const Expr& a, const Expr&) { return tanh(a); }, [](double a, double) { return std::tanh(a); });
  of([](const Expr& a, const Expr&) { return erf(a); }, [](double a, double) { return std::erf(a); });
  of([](const Expr& a, const Expr&) { return sin(a); }, [](double a, double) { return std::sin(a); });
  of([](const Expr& a, const Expr&) { return cos(a); }, [](double a, double) { return std::cos(a); });
  of([](const Expr& a, const Expr& b) { return binary(BinaryOp::pow, a, b); },
     [](double a, double b) { return std::pow(a, b); });
  of([](const Expr& a, const Expr& b) { return a % b; }, [](double a, double b) { return std::fmod(a, b); });
}

TEST_P(ArithmeticTest, BitsOfIntegers) {
  using Row = std::vector<double>;
  const Row x = {12, 255, 1, 129, 6, 3};
  const Row y = {10, 15, 7, 1, 8, 200};
  const auto with = [&](BinaryOp op) {
    return apply(DType::u8, x, y, [op](const Expr& a, const Expr& b) { return binary(op, a, b); });
  };
  EXPECT_EQ(with(BinaryOp::bit_and), (Row{8, 15, 1, 1, 0, 0}));
  EXPECT_EQ(with(BinaryOp::bit_or), (Row{14, 255, 7, 129, 14, 203}));
  EXPECT_EQ(with(BinaryOp::bit_xor), (Row{6, 240, 6, 128, 14, 203}));
  EXPECT_EQ(with(BinaryOp::shift_left), (Row{0, 0, 128, 2, 0, 0}));
  EXPECT_EQ(with(BinaryOp::shift_right), (Row{0, 0, 0, 64, 0, 0}));
}

// By the width or more, and by less than 0, as one by one.
TEST_P(ArithmeticTest, ShiftsOfEachWidth) {
  using Row = std::vector<double>;
  for (const DTypeInfo& info : kDTypes) {
    if (!is_integer(info.dtype)) continue;
    SCOPED_TRACE(info.name);
    const bool has_sign = !is_unsigned(info.dtype);
    const double width = 8 * info.bytes;
    const double top = std::ldexp(has_sign ? -1.0 : 1.0, static_cast<int>(width) - 1);
    const Row x = {1, 3, top, top, top, 5};
    const Row y = {width - 1, width, width - 1, width, 1, 0};
    const auto with = [&](BinaryOp op) {
      return apply(info.dtype, x, y, [op](const Expr& a, const Expr& b) { return binary(op, a, b); });
    };
    EXPECT_EQ(with(BinaryOp::shift_left), (Row{top, 0, 0, 0, 0, 5}));
    const double sign = has_sign ? -1 : 0;
    EXPECT_EQ(with(BinaryOp::shift_right), (Row{0, 0, has_sign ? -1.0 : 1.0, sign, top / 2, 5}));
    if (!has_sign) continue;
    EXPECT_EQ(apply(info.dtype, {3, -3}, {-1, -1},
                    [](const Expr& a, const Expr& b) { return binary(BinaryOp::shift_right, a, b); }),
              (Row{0, -1}));
  }
}

TEST_P(ArithmeticTest, BitsOfOneTypeAsAnothers) {
  using Row = std::vector<double>;
  const Row x = {1, -2.5, 0.1F, -0.0, INFINITY};
  const auto through = [&](DType dtype, DType bits, const Row& values, const auto& change) {
    return apply(dtype, values, values,
                 [&](const Expr& a, const Expr&) { return bit_cast({dtype}, change(bit_cast({bits}, a))); });
  };
  for (const DType bits : {DType::u32, DType::i32}) {
    const auto without_sign = [&](const Expr& e) {
      return binary(BinaryOp::bit_and, e, integer_literal({bits}, INT32_MAX));
    };
    EXPECT_EQ(through(DType::f32, bits, x, without_sign), (Row{1, 2.5, 0.1F, 0, INFINITY}));
  }
  const auto flipped = [](const Expr& e) {
    return binary(BinaryOp::bit_xor, e, integer_literal({DType::u64}, INT64_MIN));
  };
  EXPECT_EQ(through(DType::f64, DType::u64, {1, -2.5, 0.1}, flipped), (Row{-1, 2.5, -0.1}));
  const auto same = [](const Expr& e) { return e; };
  EXPECT_EQ(through(DType::i16, DType::f16, {1, -300, 15360}, same), (Row{1, -300, 15360}));
  EXPECT_EQ(through(DType::u8, DType::i8, {1, 200}, same), (Row{1, 200}));
}

TEST_P(ArithmeticTest, IntegersDividedByZeroGiveZeroAndTheRest) {
  constexpr double kLeast = -2147483648.0;
  const std::vector<double> x = {9, -8, kLeast, 0, 5};
  const std::vector<double> y = {0, 0, 0, 0, 2};
  for (const DType dtype : {DType::i32, DType::i64}) {
    const auto with = [&](auto value) { return apply(dtype, x, y, value); };
    EXPECT_EQ(with([](const Expr& a, const Expr& b) { return a / b; }), (std::vector<double>{0, 0, 0, 0, 2}));
    EXPECT_EQ(with([](const Expr& a, const Expr& b) { return a % b; }),
              (std::vector<double>{9, -8, kLeast, 0, 1}));
  }
}

TEST_P(ArithmeticTest, GuardedDivisionByZero) {
  const auto value = [](const Expr& a, const Expr& b) { return select(b != Expr(0), a / b, a); };
  EXPECT_EQ(apply(DType::i32, {9, 8, 7}, {2, 0, 7}, value), (std::vector<double>{4, 8, 1}));
}

TEST_P(ArithmeticTest, Bytes) {
  const auto value = [](const Expr& a, const Expr& b) { return a * b + a; };
  EXPECT_EQ(apply(DType::i8, {100, -100, 3}, {2, 2, 4}, value), (std::vector<double>{44, -44, 15}));
}

// Every pair of bytes, and words with their ends among them, against C++'s own arithmetic.
template <class T>
void expect_arithmetic(
    const std::vector<double>& x, const std::vector<double>& y,
    const std::function<std::vector<double>(const std::function<Expr(Expr, Expr)>&)>& run) {
  const auto expect = [&](const char* name, const std::function<Expr(Expr, Expr)>& value, auto function) {
    const std::vector<double> got = run(value);
    ASSERT_EQ(got.size(), x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      const auto a = static_cast<int64_t>(x[i]);
      const auto b = static_cast<int64_t>(y[i]);
      ASSERT_EQ(got[i], static_cast<double>(static_cast<T>(function(a, b)))) << a << " " << name << " " << b;
    }
  };
  const auto quotient = [](int64_t a, int64_t b) {
    return b == 0 ? 0 : a / b - ((a % b != 0) && ((a < 0) != (b < 0)));
  };
  expect("+", [](const Expr& a, const Expr& b) { return a + b; }, [](int64_t a, int64_t b) { return a + b; });
  expect("-", [](const Expr& a, const Expr& b) { return a - b; }, [](int64_t a, int64_t b) { return a - b; });
  expect("*", [](const Expr& a, const Expr& b) { return a * b; }, [](int64_t a, int64_t b) { return a * b; });
  expect("/", [](const Expr& a, const Expr& b) { return a / b; }, quotient);
  expect(
      "%", [](const Expr& a, const Expr& b) { return a % b; },
      [&](int64_t a, int64_t b) { return a - quotient(a, b) * b; });
  expect(
      "min", [](const Expr& a, const Expr& b) { return min(a, b); },
      [](int64_t a, int64_t b) { return std::min(a, b); });
  expect(
      "max", [](const Expr& a, const Expr& b) { return max(a, b); },
      [](int64_t a, int64_t b) { return std::max(a, b); });
  expect(
      "<", [](const Expr& a, const Expr& b) { return select(a < b, a, b - a); },
      [](int64_t a, int64_t b) { return a < b ? a : b - a; });
  expect(
      "<=", [](const Expr& a, const Expr& b) { return select(a <= b, b, a - b); },
      [](int64_t a, int64_t b) { return a <= b ? b : a - b; });
  expect(
      "abs", [](const Expr& a, const Expr&) { return abs(a); },
      [](int64_t a, int64_t) { return std::abs(a); });
  expect("negate", [](const Expr& a, const Expr&) { return -a; }, [](int64_t a, int64_t) { return -a; });
}

TEST_P(ArithmeticTest, NarrowIntegersWrapAround) {
  const auto pairs_of = [](const std::vector<int64_t>& values, std::vector<double>& x,
                           std::vector<double>& y) {
    for (const int64_t a : values) {
      for (const int64_t b : values) {
        x.push_back(static_cast<double>(a));
        y.push_back(static_cast<double>(b));
      }
    }
  };
  const auto check = [&]<class T>(std::type_identity<T>, DType dtype, const std::vector<int64_t>& values) {
    std::vector<double> x;
    std::vector<double> y;
    pairs_of(values, x, y);
    expect_arithmetic<T>(x, y, [&](const auto& value) { return apply(dtype, x, y, value); });
  };
  check(std::type_identity<int8_t>(), DType::i8, {-128, -127, -77, -2, -1, 0, 1, 2, 3, 64, 126, 127});
  check(std::type_identity<uint8_t>(), DType::u8, {0, 1, 2, 3, 7, 100, 127, 128, 129, 200, 254, 255});
  check(std::type_identity<int16_t>(), DType::i16,
        {-32768, -32767, -300, -1, 0, 1, 7, 255, 256, 32766, 32767});
  check(std::type_identity<uint16_t>(), DType::u16,
        {0, 1, 2, 7, 255, 256, 32767, 32768, 40000, 65534, 65535});
}

TEST_P(ArithmeticTest, Doubles) {
  const auto value = [](const Expr& a, const Expr& b) {
    return sqrt(a) * b - unary(UnaryOp::floor, b) + max(a, b);
  };
  EXPECT_EQ(apply(DType::f64, {4, 2.25, 1e-300}, {0.5, -1.5, 3}, value),
            (std::vector<double>{1 - 0 + 4, -2.25 + 2 + 2.25, 0}));
}

TEST_P(ArithmeticTest, MultiplyAddsAreFusedAlikeInVectorsAndScalars) {
  LoweredBuilder builder;
  const Tensor in = builder.input("in", 16);
  const Tensor out = builder.output("out", 16);
  const Var i("i");
  const auto value = [](const Expr& x, const Expr& c) { return x * x - c * x; };
  const auto c = Expr(0.1);
  builder.main(make_seq({vector_store(out, 0, value(vector_load(in, 0, 8), broadcast(c, 8))),
                         loop(i, 8, store(out, Affine(i) + 8, value(load(in, {Affine(i) + 8}), c)))}));
  std::vector<double> inputs;
  for (int n = 0; n < 16; ++n) inputs.push_back(static_cast<float>(0.7 + 0.013 * (n % 8)));
  const std::vector<double> got = result(builder.lowered(), {inputs});
  ASSERT_EQ(got.size(), 16u);
  for (size_t n = 0; n < 8; ++n) {
    const auto x = static_cast<float>(inputs[n]);
    EXPECT_EQ(got[n], std::fmaf(-0.1f, x, x * x));
    EXPECT_EQ(got[n + 8], got[n]);
  }
}

TEST_P(ArithmeticTest, Casts) {
  LoweredBuilder builder;
  const Tensor in = builder.input("in", 8);
  const Tensor out = builder.output("out", 32, DType::i32);
  const auto to = [](DType dtype, const Expr& e) { return cast({dtype, e.type().lanes}, e); };
  const Expr x = vector_load(in, 0, 8);
  builder.main(make_seq(
      {vector_store(out, 0, to(DType::i32, x)), vector_store(out, 8, to(DType::i32, to(DType::boolean, x))),
       vector_store(out, 16, to(DType::i32, to(DType::i8, to(DType::i32, x)))),
       vector_store(out, 24,
                    to(DType::i32, to(DType::f32, ramp(5, 8, 3)) * Expr(broadcast(Expr(0.5), 8))))}));
  const std::vector<double> expected = {-2, -1, 0, 0, 1, 2, 100, 300, 1, 1, 1, 0, 1, 1,  1,  1,
                                        -2, -1, 0, 0, 1, 2, 100, 44,  2, 4, 5, 7, 8, 10, 11, 13};
  EXPECT_EQ(result(builder.lowered(), {{-2.7, -1, -0.5, 0, 1.5, 2, 100.25, 300}}), expected);
}

TEST_P(ArithmeticTest, TruthValuesInMemory) {
  LoweredBuilder builder;
  const Tensor in = builder.input("in", 11);
  const Tensor flags = builder.output("flags", 11, DType::boolean);
  const Expr zero = broadcast(Expr(0.0), 8);
  const Expr positive = zero < vector_load(in, 0, 8);
  const Var i("i");
  const Expr scalar = unary(UnaryOp::logical_not, load(in, {Affine(i) + 8}) <= Expr(0.0));
  builder.main(make_seq({vector_store(flags, 0, positive), loop(i, 3, store(flags, Affine(i) + 8, scalar)),
                         vector_store(flags, 0, unary(UnaryOp::logical_not, vector_load(flags, 0, 8)))}));
  EXPECT_EQ(result(builder.lowered(), {{1, -1, 0, 2, -2, 3, 3, 0, 1, 0, -1}}),
            (std::vector<double>{0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 0}));
}

TEST_P(ArithmeticTest, PartsOfFloats) {
  for (DType dtype : {DType::f32, DType::f64}) {
    const std::vector<double> x = {1, 1.5, 0.375, 1024, 3e-30, 7e30};
    const std::vector<double> whole = {-126, 127, 0, 10, -1, 1};
    std::vector<double> powers, exponents, mantissas;
    for (size_t n = 0; n < x.size(); ++n) {
      const double rounded = dtype == DType::f32 ? static_cast<float>(x[n]) : x[n];
      powers.push_back(std::exp2(whole[n]));
      exponents.push_back(std::logb(rounded));
      mantissas.push_back(rounded / std::exp2(std::logb(rounded)));
    }
    const auto with = [&](UnaryOp op, bool second) {
      return apply(dtype, x, whole, [&](const Expr& a, const Expr& b) { return unary(op, second ? b : a); });
    };
    EXPECT_EQ(with(UnaryOp::pow2, true), powers);
    EXPECT_EQ(with(UnaryOp::exponent, false), exponents);
    EXPECT_EQ(with(UnaryOp::mantissa, false), mantissas);
  }
}

TEST_P(ArithmeticTest, RoundsToWholeNumbers) {
  const std::vector<double> x = {-2.5, -1.5, -0.5, -0.0, 0.5,        1.5,      2.5,
                                 1.75, -7.9, 7.1,  1e9,  -8388607.5, INFINITY, -INFINITY};
  const std::vector<std::pair<UnaryOp, double (*)(double)>> operations = {
      {UnaryOp::floor, [](double v) { return std::floor(v); }},
      {UnaryOp::ceil, [](double v) { return std::ceil(v); }},
      {UnaryOp::round, [](double v) { return std::nearbyint(v); }},
      {UnaryOp::truncate, [](double v) { return std::trunc(v); }}};
  for (DType dtype : {DType::f32, DType::f64}) {
    for (const auto& [op, exact] : operations) {
      const std::vector<double> got =
          apply(dtype, x, x, [&](const Expr& a, const Expr&) { return unary(op, a); });
      ASSERT_EQ(got.size(), x.size());
      for (size_t n = 0; n < x.size(); ++n) {
        EXPECT_EQ(got[n], exact(x[n])) << static_cast<int>(op) << " of " << x[n];
        EXPECT_EQ(std::signbit(got[n]), std::signbit(exact(x[n]))) << static_cast<int>(op) << " of " << x[n];
      }
    }
  }
  EXPECT_EQ(
      apply(DType::i32, {-3, 4}, {0, 0}, [](const Expr& a, const Expr&) { return unary(UnaryOp::round, a); }),
      (std::vector<double>{-3, 4}));
}

TEST_P(ArithmeticTest, CopiesSigns) {
  const auto value = [](const Expr& a, const Expr& b) { return copy_sign(a, b); };
  for (DType dtype : {DType::f32, DType::f64}) {
    EXPECT_EQ(apply(dtype, {1.5, -2, 3, -INFINITY}, {-0.0, 4, -5, 1}, value),
              (std::vector<double>{-1.5, 2, -3, INFINITY}));
  }
}

TEST_P(ArithmeticTest, ANotANumberShowsThroughMaxWithAConstant) {
  const auto value = [](const Expr& a, const Expr&) { return max(Expr(0.0), a) + max(a, Expr(0.0)); };
  const std::vector<double> got = apply(DType::f32, {NAN, -1, 2}, {0, 0, 0}, value);
  ASSERT_EQ(got.size(), 3u);
  EXPECT_TRUE(std::isnan(got[0]));
  EXPECT_EQ(got[1], 0);
  EXPECT_EQ(got[2], 4);
}

// Without sharing, 40 doublings would print and compile 2^40 terms.
TEST_P(ArithmeticTest, SharedPartsAreComputedOnce) {
  const auto value = [](const Expr& a, const Expr& b) {
    Expr sum = a;
    for (int n = 0; n < 40; ++n) sum = select(sum < b, sum + sum, sum);
    return sum;
  };
  EXPECT_EQ(apply(DType::f32, {1, 3}, {100, 1e6}, value), (std::vector<double>{128, 3.0 * (1 << 19)}));
}

}  // namespace
}  // namespace lathe::testing
