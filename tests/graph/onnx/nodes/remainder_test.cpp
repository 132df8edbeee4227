#include "graph/onnx/nodes/remainder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/rng.h"
#include "graph/network_runner.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

using Numbers = std::vector<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

OnnxModel remainder_model(int64_t count, int64_t fmod) {
  OnnxModel model;
  model.operator_set(28).input("a", {count}).input("b", {count});
  return std::move(model.node("n", "Mod", {"a", "b"}, "y").attribute("fmod", fmod).output("y"));
}

// Machine code beside the C library, to the last bit, for quotients of up to seven digits.
TEST(OnnxRealRemainder, IsExact) {
  Rng rng(5);
  Values a{{200}, {}}, b{{200}, {}};
  Numbers expected;
  for (int i = 0; i < 200; ++i) {
    const auto scale = static_cast<float>(std::pow(10, rng.between(-2, 6)));
    const float x = (static_cast<float>(rng.uniform()) - 0.5F) * scale;
    const float y = static_cast<float>(rng.uniform()) - 0.5F;
    a.data.push_back(x);
    b.data.push_back(y);
    expected.push_back(std::fmod(x, y));
  }
  EXPECT_EQ(run_compiled(remainder_model(200, 1), {a, b}), expected);
}

// 60 * 0.1f is a little more than 6, though the quotient is 60 in f32.
TEST(OnnxRealRemainder, AQuotientThatIsRoundedUpIsOneLess) {
  const auto tenth = static_cast<double>(0.1F);
  EXPECT_EQ(run_compiled(remainder_model(1, 1), {{{1}, {6}}, {{1}, {tenth}}}),
            Numbers{std::fmod(6.0F, 0.1F)});
}

TEST(OnnxRealRemainder, HasTheSignOfTheDividendOrOfTheDivisor) {
  const Values a{{6}, {5.5, -5.5, 5.5, -5.5, 3, -3}}, b{{6}, {2, 2, -2, -2, kInfinity, kInfinity}};
  EXPECT_EQ(run_compiled(remainder_model(6, 1), {a, b}), (Numbers{1.5, -1.5, 1.5, -1.5, 3, -3}));
  EXPECT_EQ(run_compiled(remainder_model(6, 0), {a, b}), (Numbers{1.5, 0.5, -0.5, -1.5, 3, kInfinity}));
  const Values none{{2}, {0, 1}}, large{{2}, {1, kInfinity}};
  for (const double rest : run_compiled(remainder_model(2, 1), {large, none})) EXPECT_TRUE(std::isnan(rest));
}

}  // namespace
}  // namespace lathe
