// What docs/numerics.md promises, in machine code of both backends against the interpreter: NaN, infinities
// and casts are equal for 1 to 70 elements (scalars, masked tails, vectors), functions are within 2 units in
// the last place over all exponents.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "codegen/machine.h"
#include "expr/parse.h"
#include "expr/print.h"
#include "loop/evaluate.h"
#include "loop/interpret.h"
#include "schedule/apply.h"
#include "space/all.h"
#include "target/all.h"
#include "target/detect.h"

namespace lathe::testing {
namespace {

constexpr int kMostElements = 70;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// How many f32 lie between the two; infinite where one alone is NaN or an infinity.
double ulps_between(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b) ? 0 : INFINITY;
  if (std::isinf(a) != std::isinf(b)) return INFINITY;
  const auto place = [](double value) {
    const auto bits = std::bit_cast<int32_t>(static_cast<float>(value));
    return bits < 0 ? -static_cast<double>(bits & INT32_MAX) : static_cast<double>(bits);
  };
  return std::abs(place(a) - place(b));
}

Task task_of(const std::string& text) {
  const Result<Dag> dag = parse_dag(text);
  EXPECT_TRUE(dag) << (dag ? "" : dag.error().to_string());
  return make_task("specials", *dag, with_cores(detect_target().value(), 1)).value();
}

LoweredProgram preferred_program(const Task& task) {
  const Space space = derive_space(task).value();
  const Trace trace = space.trace(space.preferred_points().front()).value();
  return lower(apply_trace(task, trace).value(), task.target).value();
}

class Specials : public ::testing::TestWithParam<Backend> {
 protected:
  // Compares what the backend's code computes with the naive program; `ulps` of each other at the most.
  void expect_equal(const std::string& text, const std::vector<HostTensor>& inputs, double ulps = 0) {
    const Task task = task_of(text);
    const Result<Interpretation> expected = interpret(naive_program(task), inputs);
    ASSERT_TRUE(expected) << expected.error().to_string();
    const auto got = run_machine(preferred_program(task), GetParam(), inputs);
    ASSERT_TRUE(got) << got.error().to_string();
    for (size_t t = 0; t < got->size(); ++t) {
      for (size_t i = 0; i < (*got)[t].values.size(); ++i) {
        const double wanted = expected->outputs[t].values[i];
        const double given = (*got)[t].values[i];
        const bool is_right =
            is_float((*got)[t].dtype) ? ulps_between(wanted, given) <= ulps : wanted == given;
        ASSERT_TRUE(is_right) << lathe::to_string(task.dag.computes[t]) << " at " << i << ": " << given
                              << ", not " << wanted;
      }
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Backends, Specials, ::testing::Values(Backend::llvm, Backend::c),
                         [](const auto& info) { return std::string(to_string(info.param)); });

// So many values, each special one now and then at each place of a vector.
HostTensor special_values(int64_t count, int64_t step) {
  const std::vector<double> values = {kNan,  INFINITY, -1.5,    300,  -300,  0.75,         2.5,    -INFINITY,
                                      127.9, -128.9,   -129,    128,  1e-40, -1e-40,       3e38,   -3e38,
                                      7,     kNan,     -2.5,    3e9,  -3e9,  2147483648.0, 1e19,   -1e19,
                                      0,     42,       -0x1p31, 1e10, 5,     -0x1p63,      0x1p63, -7};
  HostTensor tensor{DType::f32, {count}, {}};
  for (int64_t i = 0; i < count; ++i) {
    const double value = values[static_cast<size_t>(i * step + i / 3) % values.size()];
    tensor.values.push_back(static_cast<double>(static_cast<float>(value)));
  }
  return tensor;
}

// One compute for each of ten lengths; `body` holds the element's index as `i`.
std::string for_lengths(int first, const std::string& name, const std::string& axes,
                        const std::string& body) {
  std::string text;
  for (int n = first; n < first + 10; ++n)
    text += fmt::format("{}{}[{}] = {}\n", name, n, fmt::format(fmt::runtime(axes), n),
                        fmt::format(fmt::runtime(body), n));
  return text;
}

TEST_P(Specials, ExtremaAndCastsAreEqualForEveryNumberOfElements) {
  const std::vector<HostTensor> inputs = {special_values(kMostElements, 1), special_values(kMostElements, 7)};
  for (int first = 1; first <= kMostElements; first += 10) {
    std::string text = "input X[70]\ninput Y[70]\n";
    text += for_lengths(first, "A", "i:{}", "max(X[i], Y[i]) - min(max(min(Y[i], X[i]), -1.0), 6.0)");
    text += for_lengths(first, "B", "i:{}", "i32(i8(X[i])) - i32(Y[i])");
    text +=
        for_lengths(first, "C", "i:{}", "i64(X[i]) - i64(i32(f64(Y[i]) * f64(0.5))) + i64(i8(i32(X[i])))");
    expect_equal(text, inputs);
  }
}

// What is known when the program is compiled gives what it would give at run time.
TEST_P(Specials, LiteralsAreNumbersOfTheirType) {
  for (const int first : {1, 11}) {
    std::string text = "input X[70]\n";
    text += for_lengths(first, "A", "i:{}", "pow(X[i], nan) + exp(nan)");
    text += for_lengths(first, "B", "i:{}", "pow(nan, X[i])");
    text += for_lengths(first, "C", "i:{}", "erf(nan) + X[i] * 0.0");
    text += for_lengths(first, "D", "i:{}", "tanh(nan) + X[i] * 0.0");
    text += for_lengths(first, "E", "i:{}", "X[i] * (2.0 - 2.0) + X[i] * (-(0.0))");
    text += for_lengths(first, "F", "i:{}", "X[i] + (16777217.0 - 16777216.0)");
    text += for_lengths(first, "G", "i:{}", "X[i] * 0.0 + (1e39 - 1e39)");
    text += for_lengths(first, "H", "i:{}", "(X[i] * 0.0 + f32(i + 16777217)) - 16777216.0");
    text += for_lengths(first, "I", "i:{}", "X[i] * f32(i / 70)");
    expect_equal(text, {special_values(kMostElements, 1)});
  }
}

// A NaN at each place in turn, and none.
TEST_P(Specials, ReductionsKeepNan) {
  for (int first = 1; first <= kMostElements; first += 10) {
    std::string text = "input X[71, 70]\n";
    text += for_lengths(first, "A", "j:71", "max(i:{}) X[j, i]");
    text += for_lengths(first, "B", "j:71", "min(i:{}) X[j, i]");
    text += for_lengths(first, "C", "i:{}", "max(j:71) X[j, i]");
    HostTensor input{DType::f32, {71, 70}, {}};
    for (int j = 0; j < 71; ++j) {
      for (int i = 0; i < 70; ++i) input.values.push_back(i == j ? kNan : (i * 37 + j * 11) % 50 - 25);
    }
    expect_equal(text, {input});
  }
}

TEST_P(Specials, PoolingKeepsNan) {
  HostTensor input{DType::f32, {1, 3, 19, 23}, {}};
  for (int i = 0; i < 3 * 19 * 23; ++i) input.values.push_back(i % 83 == 0 ? kNan : (i * 29) % 101 - 50);
  expect_equal(
      "O[n:1, c:3, y:9, x:11] = max(p:3, q:3) X[n, c, 2*y + p, 2*x + q]\n"
      "P[n:1, c:3, y:17, x:21] = min(p:3, q:3) X[n, c, y + p, x + q]",
      {input});
}

// Sixteen f32 of each exponent and both signs, and those whose exponent is all ones.
HostTensor all_exponents() {
  HostTensor tensor{DType::f32, {0}, {}};
  for (uint32_t exponent = 0; exponent < 256; ++exponent) {
    for (uint32_t m = 0; m < 16; ++m) {
      const uint32_t fraction = (m * 524287 + m * m * 40503 + exponent * 7919 * m) & 0x7fffff;
      for (const uint32_t sign : {0U, 1U << 31}) {
        tensor.values.push_back(static_cast<double>(std::bit_cast<float>(sign | exponent << 23 | fraction)));
      }
    }
  }
  tensor.shape = {static_cast<int64_t>(tensor.values.size())};
  return tensor;
}

std::string functions_of(const std::string& axis, const std::string& suffix) {
  std::string text;
  for (const char* body :
       {"exp(X[i])",          "log(X[i])",         "tanh(X[i])",      "erf(X[i])",
        "sqrt(X[i])",         "sin(X[i])",         "cos(X[i])",       "exp(X[i] * 1e-36)",
        "tanh(X[i] * 1e-37)", "erf(X[i] * 1e-37)", "pow(X[i], 0.5)",  "pow(X[i], -0.5)",
        "pow(X[i], 2.0)",     "pow(X[i], 3.0)",    "pow(X[i], 4.0)",  "pow(X[i], -1.0)",
        "pow(X[i], -2.0)",    "pow(X[i], 5.0)",    "pow(X[i], 17.0)", "pow(X[i], 0.1)",
        "pow(X[i], -1.75)",   "pow(2.0, X[i])",    "pow(-1.0, X[i])", "pow(X[i], X[i] * 0.25)"}) {
    text += fmt::format("F{}{}[{}] = {}\n", text.size(), suffix, axis, body);
  }
  return text;
}

TEST_P(Specials, FunctionsAreWithinTwoUlpsOverAllExponents) {
  const HostTensor x = all_exponents();
  expect_equal(functions_of(fmt::format("i:{}", x.shape[0]), ""), {x}, 2);
}

TEST_P(Specials, FunctionsAreAlikeInVectorsAndTails) {
  HostTensor x{DType::f32, {kMostElements}, {}};
  for (int i = 0; i < kMostElements; ++i) x.values.push_back(static_cast<float>(i * 3.7 - 110 + i / 64.0));
  for (const int count : {1, 7, 17, 70})
    expect_equal("input X[70]\n" + functions_of(fmt::format("i:{}", count), ""), {x}, 2);
}

// C's rules (ISO 9899, F.10.4.4), and exact whole powers.
TEST_P(Specials, PowersHaveTheValuesOfC) {
  const std::vector<double> special = {
      0,    -0.0, 1, -1, 0.5,       -0.5,     2,        -2, 3,     -3,     2.5,           -2.5, kNan,
      1e20, 5,    7, -7, -INFINITY, INFINITY, 0x1p-149, 10, 1e-30, 0x1p24, 0x1.000002p24, 13,   -1e30};
  const auto count = static_cast<int64_t>(special.size());
  HostTensor values{DType::f32, {count}, {}};
  for (const double value : special) values.values.push_back(static_cast<double>(static_cast<float>(value)));
  expect_equal(
      fmt::format("P[i:{0}, j:{0}] = pow(X[i], Y[j])\nS[i:{0}, j:{0}] = 1.0 / pow(X[i], Y[j])", count),
      {values, values}, 2);
}

TEST_P(Specials, WholePowersAreExact) {
  HostTensor bases{DType::f32, {40}, {}};
  for (int i = 0; i < 40; ++i) bases.values.push_back(i - 20);
  std::string text =
      "input X[40]\ninput Y[40]\nP[i:40, j:40] = select(abs(pow(X[i], Y[j])) <= 16777216.0, pow(X[i], Y[j]), "
      "0.0)\n";
  for (int n = 2; n < 12; ++n)
    text +=
        fmt::format("Q{0}[i:40] = select(abs(pow(X[i], {0}.0)) <= 16777216.0, pow(X[i], {0}.0), 0.0)\n", n);
  expect_equal(text, {bases, bases});
}

// A literal 0 of the program is a factor like any other; the zeros of padding leave their factor out.
TEST_P(Specials, AProductWithALiteralZeroIsOneAllTheSame) {
  expect_equal("input X[70]\nY[i:70] = X[i] * 0.0", {special_values(kMostElements, 1)});
}

}  // namespace
}  // namespace lathe::testing
