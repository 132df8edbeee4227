// Functions of f32 in double arithmetic: half a unit in the last place everywhere, and C's special values.
// Whole ranges: expand_math_test.cpp.
#include "lower/arithmetic/math_in_double.h"

#include <functional>

#include "schedule/programs.h"

namespace lathe::testing {
namespace {

using Values = std::vector<double>;

// f(X, Z) for pairs of values, as the interpreter computes it.
Values values_of(const std::function<Expr(const Expr&, const Expr&)>& f, const Values& x,
                 const Values& z = {}) {
  const Task task = task_of("Y[i:" + std::to_string(x.size()) + "] = X[i] + Z[i]");
  Program program = naive_program(task);
  program.main = rebuild(program.main, [&](const Stmt& stmt) -> std::optional<Stmt> {
    const Block* block = as<Block>(stmt);
    if (block == nullptr) return std::nullopt;
    Block result = *block;
    const Binary& sum = *block->value.as<Binary>();
    result.value = f(sum.a, sum.b);
    return make_stmt(std::move(result));
  });
  std::vector<HostTensor> inputs;
  for (const Argument& argument : task.arguments) {
    if (!argument.is_output) inputs.push_back(zeros_like(argument.tensor));
  }
  inputs[0].values = x;
  if (!z.empty()) inputs[1].values = z;
  const Result<Interpretation> result = interpret(program, inputs);
  EXPECT_TRUE(result.has_value()) << result.error().to_string();
  return result ? result->outputs[0].values : Values(x.size(), NAN);
}

Values sines(const Values& x, int quarters) {
  return values_of([&](const Expr& a, const Expr&) { return sine_in_double(a, quarters); }, x);
}
Values powers(const Values& a, const Values& b) {
  return values_of([](const Expr& x, const Expr& z) { return power_in_double(x, z); }, a, b);
}
Values products(const Values& a, int n) {
  return values_of([&](const Expr& x, const Expr&) { return product_in_double(x, n); }, a);
}

// The distance in units of the last place of the exact value's f32.
double units(double value, double exact) {
  const double magnitude = std::max(std::abs(exact), 0x1p-126);
  return std::abs(value - exact) / std::ldexp(1.0, std::ilogb(magnitude) - 23);
}

// Each quarter turn makes sine, cosine, and their negatives.
TEST(SineInDouble, QuarterTurns) {
  Values x;
  for (int i = -40; i <= 40; ++i) x.push_back(static_cast<float>(i * 0.37));
  x.insert(x.end(), {0x1p-149, 0x1p-30, 12345.678F, 0x1p100, 0x1.9c5abep+95});
  for (int quarters = 0; quarters < 4; ++quarters) {
    const Values y = sines(x, quarters);
    for (size_t i = 0; i < x.size(); ++i) {
      const double exact = quarters % 2 == 0 ? std::sin(x[i]) : std::cos(x[i]);
      EXPECT_LE(units(y[i], quarters < 2 ? exact : -exact), 0.51) << quarters << " at " << x[i];
    }
  }
}

// sin(-0) is -0; at the ends there is no number.
TEST(SineInDouble, SpecialValues) {
  const Values zeros = sines({-0.0, 0.0}, 0);
  EXPECT_TRUE(zeros[0] == 0 && std::signbit(zeros[0]));
  EXPECT_TRUE(zeros[1] == 0 && !std::signbit(zeros[1]));
  EXPECT_EQ(sines({-0.0, 0.0}, 1), (Values{1, 1}));
  for (const double none : sines({INFINITY, -INFINITY, NAN}, 0)) EXPECT_TRUE(std::isnan(none));
  for (const double none : sines({INFINITY, -INFINITY, NAN}, 1)) EXPECT_TRUE(std::isnan(none));
}

TEST(PowerInDouble, HalfAUnit) {
  const Values a = {0.1F, 2, 3, 1.5F, 0x1p-149, 0x1p-100, 1e10F, 0x1.fffffep-1, -2, -3, -0.5F, 7};
  const Values b = {2.5F, 10, -3, 0.3F, 0.5F, 1.25F, 3.1F, 1000, 3, 4, -5, 0};
  const Values y = powers(a, b);
  for (size_t i = 0; i < a.size(); ++i)
    EXPECT_LE(units(y[i], std::pow(a[i], b[i])), 0.51) << a[i] << " to the power of " << b[i];
}

// As C's pow has them: signs of zeros and infinities, whole and fractional powers of negative numbers.
TEST(PowerInDouble, SpecialValues) {
  const double inf = INFINITY;
  const Values a = {0, -0.0, -0.0, 0, -0.0, inf, -inf, -inf, -inf, -2, 1, NAN, NAN, 2, 0.5, 2, -inf, 0x1p70};
  const Values b = {2, 3, 2, -1, -1, 2, 3, 2, -3, 0.5, NAN, 0, 1, inf, inf, -inf, 0.5, 2};
  const Values y = powers(a, b);
  for (size_t i = 0; i < a.size(); ++i) {
    const double exact = static_cast<float>(std::pow(a[i], b[i]));
    if (std::isnan(exact)) {
      EXPECT_TRUE(std::isnan(y[i])) << a[i] << " to the power of " << b[i];
      continue;
    }
    EXPECT_EQ(y[i], exact) << a[i] << " to the power of " << b[i];
    EXPECT_EQ(std::signbit(y[i]), std::signbit(exact)) << a[i] << " to the power of " << b[i];
  }
}

// Rounded once, at the end; the power 1 is the number itself.
TEST(ProductInDouble, WholePowers) {
  const Values x = {0.1F, -1.7F, 3.3F, 1e-10F, 123.4F, 0, -0.0};
  for (const int n : {1, 2, 3, 4, 7, 15, -1, -2, -5}) {
    const Values y = products(x, n);
    for (size_t i = 0; i < 5; ++i) {
      const double exact = std::pow(x[i], n);
      EXPECT_TRUE(std::abs(exact) > 3.4e38 || units(y[i], exact) <= 0.51) << x[i] << " to the power of " << n;
    }
  }
  EXPECT_EQ(products(x, 1), x);
  EXPECT_TRUE(std::signbit(products(x, 3)[6]));
  EXPECT_EQ(products(x, -1)[6], -INFINITY);
}

}  // namespace
}  // namespace lathe::testing
