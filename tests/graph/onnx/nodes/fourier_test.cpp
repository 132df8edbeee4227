// Transforms beside their definition, a sum for each result.
#include "graph/onnx/nodes/fourier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>

#include "base/rng.h"
#include "graph/network_runner.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

using Numbers = std::vector<double>;

Values noise(const Shape& shape) {
  Rng rng(11);
  Values values{shape, {}};
  for (int64_t i = 0; i < elements_of(shape); ++i) values.data.push_back((rng.uniform() * 2 - 1) / 32);
  return values;
}

// Of one line of real or complex numbers the first `results`.
Numbers transformed(const Values& x, int64_t n, int64_t results, bool inverse) {
  const int64_t parts = x.shape.back(), given = elements_of(x.shape) / parts;
  Numbers result;
  for (int64_t k = 0; k < results; ++k) {
    std::complex<double> sum = 0;
    for (int64_t place = 0; place < std::min(n, given); ++place) {
      const auto at = static_cast<size_t>(place * parts);
      const double turn = 2 * std::numbers::pi * static_cast<double>(place * k % n) / static_cast<double>(n);
      sum += std::complex<double>(x.data[at], parts == 2 ? x.data[at + 1] : 0) *
             std::polar(1.0, inverse ? turn : -turn);
    }
    if (inverse) sum /= static_cast<double>(n);
    result.push_back(sum.real());
    result.push_back(sum.imag());
  }
  return result;
}

auto is_near(const Numbers& numbers) { return ::testing::Pointwise(::testing::DoubleNear(2e-5), numbers); }

// By one matrix, by factors, by factors of factors, and of a length without any.
TEST(OnnxDft, TransformsLinesOfAnyLength) {
  for (const int64_t n : {1, 6, 64, 65, 100, 128, 67, 4160}) {
    for (const int64_t parts : {1, 2}) {
      SCOPED_TRACE(::testing::Message() << n << " of " << parts);
      const Values x = noise({1, n, parts});
      EXPECT_THAT(run_network(node_model(x.shape, "DFT"), {x}).data, is_near(transformed(x, n, n, false)));
    }
  }
  const Values x = noise({1, 130, 2});
  EXPECT_THAT(run_network(node_model(x.shape, "DFT").attribute("inverse", 1), {x}).data,
              is_near(transformed(x, 130, 130, true)));
}

TEST(OnnxDft, GivesTheHalfThatSaysAll) {
  for (const int64_t n : {7, 8, 130}) {
    const Values x = noise({1, n, 1});
    EXPECT_THAT(run_network(node_model(x.shape, "DFT").attribute("onesided", 1), {x}).data,
                is_near(transformed(x, n, n / 2 + 1, false)));
  }
}

OnnxModel modern_model(const Shape& shape, const std::vector<int64_t>& length,
                       const std::vector<int64_t>& axis) {
  OnnxModel model;
  model.operator_set(20).input("x", shape);
  if (!length.empty()) model.integers("n", {}, length);
  if (!axis.empty()) model.integers("a", {}, axis);
  model.node("n", "DFT", {"x", length.empty() ? "" : "n", axis.empty() ? "" : "a"}, "y").output("y");
  return model;
}

// A line is filled up with zeros, or its end is left out.
TEST(OnnxDft, LengthsAndAxesAreInputs) {
  const Values x = noise({1, 5, 2});
  for (const int64_t n : {3, 5, 9})
    EXPECT_THAT(run_network(modern_model(x.shape, {n}, {}), {x}).data, is_near(transformed(x, n, n, false)));
  const Values columns = run_network(modern_model({5, 1, 2}, {4}, {-3}), {{{5, 1, 2}, x.data}});
  EXPECT_EQ(columns.shape, (Shape{4, 1, 2}));
  EXPECT_THAT(columns.data, is_near(transformed(x, 4, 4, false)));
}

// What comes back is what the transform was made of, the last frequency of an even length once.
TEST(OnnxDft, RealNumbersComeBackFromAHalf) {
  for (const int64_t n : {8, 9}) {
    OnnxModel model;
    model.operator_set(20).input("x", {1, n, 1}).integers("n", {}, {n});
    model.node("f", "DFT", {"x"}, "h").attribute("onesided", 1);
    model.node("b", "DFT", {"h", "n"}, "y").attribute("onesided", 1).attribute("inverse", 1).output("y");
    const Values x = noise({1, n, 1});
    const Values y = run_network(model, {x});
    EXPECT_EQ(y.shape, x.shape);
    EXPECT_THAT(y.data, is_near(x.data));
  }
  OnnxModel even = node_model({1, 5, 2}, "DFT").attribute("onesided", 1).attribute("inverse", 1);
  EXPECT_EQ(run_network(even, {noise({1, 5, 2})}).shape, (Shape{1, 8, 1}));
}

TEST(OnnxDft, NamesWhatItCannotTake) {
  EXPECT_EQ(import_error(node_model({1, 5, 2}, "DFT").attribute("axis", 2)),
            "node 'n' (DFT): its operand [1,5,2] does not hold real or complex numbers along axis 2 to be "
            "transformed in lengths of 2");
  EXPECT_EQ(import_error(node_model({1, 5, 2}, "DFT").attribute("onesided", 1)),
            "node 'n' (DFT): attribute 'onesided' is set, and its operand [1,5,2] holds complex numbers");
  EXPECT_EQ(import_error(node_model({1, 65537, 1}, "DFT")),
            "node 'n' (DFT): its length 65537 has no factor that Lathe supports");
}

OnnxModel stft_model(int64_t places, int64_t step, int64_t frame, bool has_window) {
  OnnxModel model;
  model.input("x", {1, places, 1}).integers("s", {}, {step}).integers("f", {}, {frame});
  if (has_window) model.input("w", {frame});
  model.node("n", "STFT", {"x", "s", has_window ? "w" : "", "f"}, "y").output("y");
  return model;
}

TEST(OnnxStft, TransformsFramesThatOverlap) {
  const Values x = noise({1, 11, 1}), window = noise({4});
  const Values y = run_network(stft_model(11, 3, 4, true), {x, window});
  EXPECT_EQ(y.shape, (Shape{1, 3, 3, 2}));
  Numbers expected;
  for (size_t frame = 0; frame < 3; ++frame) {
    Values seen{{4, 1}, {}};
    for (size_t i = 0; i < 4; ++i) seen.data.push_back(x.data[frame * 3 + i] * window.data[i]);
    for (const double number : transformed(seen, 4, 3, false)) expected.push_back(number);
  }
  EXPECT_THAT(y.data, is_near(expected));
  EXPECT_EQ(run_network(stft_model(11, 3, 4, false).attribute("onesided", 0), {x}).shape,
            (Shape{1, 3, 4, 2}));
  EXPECT_EQ(
      import_error(stft_model(3, 3, 4, false)),
      "node 'n' (STFT): its frames of 4 by steps of 3, with a window of 3, are not those of a signal of 3");
}

}  // namespace
}  // namespace lathe
