// The polynomials' errors, which expand_math.h states, against the host's double functions.
#include "lower/arithmetic/expand_math.h"

#include <functional>

#include "lower/golden.h"

namespace lathe::testing {
namespace {

using Function = std::function<double(double)>;

// Y = f(X) over the given values, expanded.
std::vector<double> expanded(const std::string& body, const std::vector<double>& x) {
  const Task task = task_of("Y[i:" + std::to_string(x.size()) + "] = " + body);
  HostTensor input = zeros_like(task.arguments[0].tensor);
  input.values = x;
  const Program program = lowered_until(naive_program(task), "expand_math");
  for (const Store& store : all<Store>(program.main)) {
    for_each(store.value, [](const Expr& e) {
      if (const Unary* node = e.as<Unary>()) {
        EXPECT_TRUE(node->op != UnaryOp::exp && node->op != UnaryOp::log && node->op != UnaryOp::tanh &&
                    node->op != UnaryOp::erf && node->op != UnaryOp::sin && node->op != UnaryOp::cos);
      }
    });
  }
  const Result<Interpretation> result = interpret(program, std::vector{input});
  EXPECT_TRUE(result.has_value()) << result.error().to_string();
  return result->outputs[0].values;
}

// f32 values spread evenly over [lo, hi], and over the magnitudes from 1e-30 up where `magnitudes`.
std::vector<double> samples(double lo, double hi, bool magnitudes, int count = 5000) {
  std::vector<double> x;
  for (int i = 0; i <= count; ++i) x.push_back(static_cast<float>(lo + (hi - lo) * i / count));
  for (int i = 0; magnitudes && i < 2000; ++i) {
    const double value = std::pow(10.0, -30.0 + i * (std::log10(hi) + 30.0) / 2000);
    x.push_back(static_cast<float>(value));
    if (-value >= lo) x.push_back(static_cast<float>(-value));
  }
  return x;
}

double worst_relative_error(const std::string& body, const Function& exact, const std::vector<double>& x) {
  const std::vector<double> y = expanded(body, x);
  double worst = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double expected = exact(x[i]);
    const double error = expected == 0 ? std::abs(y[i]) : std::abs(y[i] - expected) / std::abs(expected);
    if (!(error <= worst)) worst = error;
  }
  return worst;
}

// Between bounds that stand at the operand nothing is done for what lies beyond.
TEST(ExpandMath, ExpBetweenBounds) {
  const std::string body = "exp(max(min(X[i], 0.0), -80.0))";
  const Function exact = [](double x) { return std::exp(std::max(std::min(x, 0.0), -80.0)); };
  EXPECT_LE(worst_relative_error(body, exact, samples(-100, 10, true)), 3e-7);
  EXPECT_TRUE(std::isnan(expanded(body, {NAN})[0]));
  const auto length = [](const std::string& formula) {
    const Program program = lowered_until(naive_program(task_of("Y[i:4] = " + formula)), "expand_math");
    int nodes = 0;
    for (const Store& store : all<Store>(program.main)) for_each(store.value, [&](const Expr&) { ++nodes; });
    return nodes;
  };
  EXPECT_LT(length(body), length("exp(max(min(X[i], 0.0), -90.0))"));
  EXPECT_LT(length(body), length("exp(max(X[i], -80.0))"));
}

TEST(ExpandMath, Exp) {
  const Function exact = [](double x) { return std::exp(x); };
  EXPECT_LE(worst_relative_error("exp(X[i])", exact, samples(-86.9, 88.7, true)), 3e-7);
  EXPECT_EQ(expanded("exp(X[i])", {-104, -1000, -INFINITY}), (std::vector<double>{0, 0, 0}));
  // Subnormal results are off by less than the least subnormal.
  const std::vector<double> tiny = {-87, -87.5, -90, -100, -103.9};
  const std::vector<double> results = expanded("exp(X[i])", tiny);
  for (size_t i = 0; i < tiny.size(); ++i)
    EXPECT_NEAR(results[i], std::exp(static_cast<float>(tiny[i])), 0x1p-149);
  EXPECT_EQ(expanded("exp(X[i])", {88.8, 1000, INFINITY}),
            (std::vector<double>{INFINITY, INFINITY, INFINITY}));
  EXPECT_TRUE(std::isnan(expanded("exp(X[i])", {NAN, 0})[0]));
  EXPECT_EQ(expanded("exp(X[i])", {0, 0})[0], 1);
}

TEST(ExpandMath, Log) {
  const Function exact = [](double x) { return std::log(x); };
  EXPECT_LE(worst_relative_error("log(X[i])", exact, samples(0.25, 4, false)), 3e-7);
  std::vector<double> wide;
  for (int i = -37; i <= 38; ++i) {
    for (int m = 10; m < 100; ++m) wide.push_back(static_cast<float>(m * std::pow(10.0, i - 1)));
  }
  std::erase_if(wide, [](double x) { return x > 3.4e38; });
  EXPECT_LE(worst_relative_error("log(X[i])", exact, wide), 3e-7);
  EXPECT_EQ(expanded("log(X[i])", {0, -0.0, INFINITY, 1}),
            (std::vector<double>{-INFINITY, -INFINITY, INFINITY, 0}));
  EXPECT_LE(worst_relative_error("log(X[i])", exact, {0x1p-149, 0x1p-127, 0x1.8p-140, 0x1p-126}), 1.2e-7);
  const std::vector<double> none = expanded("log(X[i])", {-1, NAN});
  EXPECT_TRUE(std::isnan(none[0]) && std::isnan(none[1]));
}

TEST(ExpandMath, Tanh) {
  const Function exact = [](double x) { return std::tanh(x); };
  EXPECT_LE(worst_relative_error("tanh(X[i])", exact, samples(-12, 12, true)), 3e-7);
  EXPECT_EQ(expanded("tanh(X[i])", {INFINITY, -INFINITY, 0}), (std::vector<double>{1, -1, 0}));
}

TEST(ExpandMath, Erf) {
  const Function exact = [](double x) { return std::erf(x); };
  EXPECT_LE(worst_relative_error("erf(X[i])", exact, samples(-6, 6, true)), 5e-7);
  EXPECT_EQ(expanded("erf(X[i])", {INFINITY, -INFINITY, 0}), (std::vector<double>{1, -1, 0}));
}

TEST(ExpandMath, Pow) {
  const auto error = [](const std::string& b, double exponent, double lo, double hi, int count = 5000) {
    return worst_relative_error(
        "pow(X[i], " + b + ")", [=](double x) { return std::pow(x, exponent); },
        samples(lo, hi, false, count));
  };
  // Rounded once, at the end: half a unit in the last place is 6e-8 at the most.
  constexpr double kOnce = 6.1e-8;
  EXPECT_LE(error("2.5", 2.5, 0.001, 1e12), kOnce);
  EXPECT_LE(error("-1.75", -1.75, 0.001, 1e12), kOnce);
  EXPECT_LE(error("1", 1, -50, 50), 0);
  EXPECT_LE(error("2", 2, -50, 50), kOnce);
  EXPECT_LE(error("4", 4, -50, 50), kOnce);
  EXPECT_LE(error("7", 7, -50, 50), kOnce);
  EXPECT_LE(error("16", 16, -50, 50), kOnce);
  EXPECT_LE(error("-5", -5, -50, -0.1), kOnce);
  EXPECT_LE(error("17", 17, -50, 50, 500), kOnce);
  EXPECT_LE(error("-18", -18, -50, -0.1, 500), kOnce);
  EXPECT_LE(error("0.5", 0.5, 0.01, 50), kOnce);
  EXPECT_LE(error("3", 3, -50, 50), 2 * kOnce);
  EXPECT_LE(error("-0.5", -0.5, 0.01, 50), 2 * kOnce);
  EXPECT_LE(worst_relative_error("pow(X[i], X[i])", [](double x) { return std::pow(x, x); },
                                 {-3, -2, -1, 0, 0.5, 2, 3, 20}),
            kOnce);
  EXPECT_EQ(expanded("pow(X[i], 0.0)", {0, NAN}), (std::vector<double>{1, 1}));
  EXPECT_EQ(expanded("pow(X[i], 0.5)", {-INFINITY, 4}), (std::vector<double>{INFINITY, 2}));
  EXPECT_FALSE(std::signbit(expanded("pow(X[i], 0.5)", {-0.0, 4})[0]));
  EXPECT_TRUE(std::isnan(expanded("pow(X[i], 2.5)", {-1, 1})[0]));
  EXPECT_TRUE(std::isnan(expanded("pow(X[i], X[i])", {-1.5, 1})[0]));
  // Results at the ends of f32.
  EXPECT_EQ(expanded("pow(X[i], -2.0)", {0x1p70, -0x1p-70}), (std::vector<double>{0x1p-140, INFINITY}));
  EXPECT_LE(worst_relative_error("pow(X[i], 0.1)", [](double x) { return std::pow(x, 0.1F); },
                                 {0x1p-149, 0x1p-130}),
            kOnce);
}

// Of every size: halfway between neighbours in f32 is 6e-8.
TEST(ExpandMath, SineAndCosine) {
  std::vector<double> x = samples(-10, 10, true);
  for (int exponent = -149; exponent <= 127; ++exponent) {
    for (int m = 0; m < 40; ++m) x.push_back(static_cast<float>(std::ldexp(1 + m / 40.0, exponent)));
  }
  // The f32 next to a multiple of pi/2, of those below 1e38 and of all.
  x.insert(x.end(), {0x1.921fb6p+0, 0x1.921fb6p+1, 0x1.3f6946p+29, 0x1.9c5abep+95, 0x1.fffffep+127});
  EXPECT_LE(worst_relative_error("sin(X[i])", [](double v) { return std::sin(v); }, x), 6.1e-8);
  EXPECT_LE(worst_relative_error("cos(X[i])", [](double v) { return std::cos(v); }, x), 6.1e-8);
  EXPECT_TRUE(std::signbit(expanded("sin(X[i])", {-0.0, 0})[0]));
  for (const double none : expanded("sin(X[i]) + cos(X[i])", {INFINITY, -INFINITY, NAN}))
    EXPECT_TRUE(std::isnan(none));
}

// Written out in place, with the numbers of the value's type; other operations stay as they are.
TEST(ExpandMath, WholePowersArePlainProducts) {
  const auto pass = [](const Program& program) { return expand_math(program); };
  expect_golden(pass, R"(
input X: f32[8] [0]
output Y: f32[8] [0]
flat
main {
  for i in 8 {
    store Y[i] = pow(X[i], 3.0) + sqrt(abs(X[i])) + pow(X[i], -1.0)
  }
}
)",
                R"(
input X: f32[8] [0]
output Y: f32[8] [0]
flat
main {
  for i in 8 {
    store Y[i] = X[i] * X[i] * X[i] + sqrt(abs(X[i])) + 1.0 / X[i]
  }
}
)");
}

TEST(ExpandMath, VectorsAlike) {
  const Task task = task_of("Y[i:16] = exp(X[i]) + tanh(X[i]) * erf(X[i]) - sin(X[i])");
  const Program scalar = lowered_until(naive_program(task), "expand_math");
  const Program vector = lowered_until(scheduled(task, "vectorize Y i\n"), "expand_math");
  const std::vector<Store> stores = all<Store>(vector.main);
  ASSERT_EQ(stores.size(), 1u);
  EXPECT_EQ(stores[0].value.type(), (Type{DType::f32, 16}));
  EXPECT_EQ(difference(run(scalar, "scalar"), run(vector, "vector")), 0);
}

}  // namespace
}  // namespace lathe::testing
