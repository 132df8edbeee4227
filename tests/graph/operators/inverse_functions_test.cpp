#include "graph/operators/inverse_functions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "graph/network_runner.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

struct Case {
  const char* type;
  double (*function)(double);
  double least, most;  // exponents of 2 of the magnitudes that are tried
  bool negative;
};

// Over all exponents at which the function is defined, as machine code, in units in the last place of f32.
TEST(InverseFunctions, AreWithinAFewUnits) {
  const Case cases[] = {
      {"Asin", std::asin, -126, 0, true},   {"Acos", std::acos, -126, 0, true},
      {"Atan", std::atan, -126, 127, true}, {"Asinh", std::asinh, -126, 127, true},
      {"Acosh", std::acosh, 0, 127, false}, {"Atanh", std::atanh, -126, -0.01, true},
  };
  for (const Case& c : cases) {
    Values x{{4000}, {}};
    for (int i = 0; i < 4000; ++i) {
      const double exponent = c.least + (c.most - c.least) * i / 4000;
      const auto magnitude = static_cast<float>(std::exp2(exponent));
      x.data.push_back(c.negative && i % 2 == 1 ? -magnitude : magnitude);
    }
    OnnxModel model;
    model.input("x", {4000}).node("n", c.type, {"x"}, "y").output("y");
    const std::vector<double> y = run_compiled(model, {x});
    double worst = 0;
    for (size_t i = 0; i < y.size(); ++i) {
      const double right = c.function(x.data[i]);
      const double unit = std::exp2(std::max(std::floor(std::log2(std::abs(right))), -126.0) - 23);
      const double error = right == 0 ? std::abs(y[i]) * 1e30 : std::abs(y[i] - right) / unit;
      EXPECT_LE(error, 4) << c.type << " of " << x.data[i] << " is " << y[i] << ", not " << right;
      worst = std::max(worst, error);
    }
    RecordProperty(c.type, std::to_string(worst));
  }
}

TEST(InverseFunctions, HaveTheirSpecialValues) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto values = [](const char* type, const std::vector<double>& x) {
    OnnxModel model;
    model.input("x", {static_cast<int64_t>(x.size())}).node("n", type, {"x"}, "y").output("y");
    return run_compiled(model, {{{static_cast<int64_t>(x.size())}, x}});
  };
  const double half_pi = static_cast<double>(static_cast<float>(std::acos(0)));
  EXPECT_EQ(values("Atan", {kInfinity, -kInfinity}), (std::vector<double>{half_pi, -half_pi}));
  EXPECT_EQ(values("Asin", {1, -1, 0}), (std::vector<double>{half_pi, -half_pi, 0}));
  EXPECT_EQ(values("Acos", {1, -1}), (std::vector<double>{0, 2 * half_pi}));
  EXPECT_EQ(values("Acosh", {1, kInfinity}), (std::vector<double>{0, kInfinity}));
  EXPECT_EQ(values("Atanh", {1, -1}), (std::vector<double>{kInfinity, -kInfinity}));
  EXPECT_EQ(values("Asinh", {kInfinity, -kInfinity}), (std::vector<double>{kInfinity, -kInfinity}));
  for (const char* type : {"Asin", "Acos", "Atanh"})
    for (const double value : values(type, {1.5, -1.5, std::nan("")})) EXPECT_TRUE(std::isnan(value)) << type;
  for (const double value : values("Acosh", {0.5, -3, std::nan("")})) EXPECT_TRUE(std::isnan(value));
}

}  // namespace
}  // namespace lathe
