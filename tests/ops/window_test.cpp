#include "ops/window.h"

#include "ops/small_dags.h"

namespace lathe {
namespace {

using ops_testing::computed;
using ops_testing::counted;
using ops_testing::text_of;

TEST(OpsWindow, HasDefaultsForListsThatAreEmpty) {
  const Window plain;
  EXPECT_EQ(plain.stride_of(2), 1);
  EXPECT_EQ(plain.dilation_of(2), 1);
  EXPECT_EQ(plain.before(2), 0);
  EXPECT_EQ(plain.after(2), 0);
  Window front;
  front.padding = {3, 4};
  EXPECT_EQ(front.after(1), 4);  // as in front
  front.padding_after = {0, 0};
  EXPECT_EQ(front.after(1), 0);
}

TEST(OpsWindow, IsTheSameInEveryDimension) {
  const Window window = uniform_window(3, 2, 1, 4);
  for (size_t d = 0; d < 3; ++d) {
    EXPECT_EQ(window.stride_of(d), 2);
    EXPECT_EQ(window.before(d), 1);
    EXPECT_EQ(window.after(d), 1);
    EXPECT_EQ(window.dilation_of(d), 4);
  }
  EXPECT_EQ(uniform_window(1, 2, 1).dilation_of(0), 1);
}

TEST(OpsWindow, CountsThePlacesOfTheKernel) {
  EXPECT_EQ(window_count(5, 3, {}, 0), 3);
  EXPECT_EQ(window_count(5, 5, {}, 0), 1);
  EXPECT_EQ(window_count(5, 6, {}, 0), 0);
  EXPECT_EQ(window_count(5, 60, {}, 0), 0);
  EXPECT_EQ(window_count(6, 3, uniform_window(1, 2, 0), 0), 2);  // rounded down
  EXPECT_EQ(window_count(6, 3, uniform_window(1, 2, 1), 0), 3);
  EXPECT_EQ(window_count(7, 3, uniform_window(1, 1, 0, 3), 0), 1);
  EXPECT_EQ(window_count(6, 3, uniform_window(1, 1, 0, 3), 0), 0);
}

// As many as there are places from which the whole kernel lies inside.
TEST(OpsWindow, CountsAsOneCountsByHand) {
  for (int64_t input = 1; input <= 6; ++input)
    for (int64_t kernel = 1; kernel <= 4; ++kernel)
      for (int64_t stride = 1; stride <= 3; ++stride)
        for (int64_t dilation = 1; dilation <= 2; ++dilation) {
          const Window window = uniform_window(1, stride, 1, dilation);
          int64_t count = 0;
          for (int64_t first = 0; first + dilation * (kernel - 1) < input + 2; first += stride) ++count;
          EXPECT_EQ(window_count(input, kernel, window, 0), count)
              << input << " " << kernel << " " << stride << " " << dilation;
        }
}

TEST(OpsWindow, NamesAKernelThatDoesNotFit) {
  const auto refusal = [](std::vector<int64_t> input, std::vector<int64_t> kernel, const Window& window) {
    const Status status = check_window(input, kernel, window);
    return status ? "fits" : status.error().to_string();
  };
  EXPECT_EQ(refusal({4, 3}, {4, 3}, {}), "fits");
  EXPECT_EQ(refusal({4, 3}, {4, 4}, {}),
            "a kernel of 4 with dilation 1 does not fit an input of 3 with padding 0 and 0");
  Window window = uniform_window(2, 1, 1, 3);
  window.padding_after = {0, 2};
  EXPECT_EQ(refusal({4, 3}, {3, 1}, window),
            "a kernel of 3 with dilation 3 does not fit an input of 4 with padding 1 and 0");
}

TEST(OpsPad, OfNothingIsTheTensorItself) {
  DagBuilder builder;
  const Tensor x = builder.input("X", {1, 2, 3});
  EXPECT_EQ(pad(builder, x, 2, 1, {}), x);
  EXPECT_EQ(pad(builder, x, 2, 1, uniform_window(1, 3, 0)), x);
}

TEST(OpsPad, AsksOnlyWhereSomethingIsPadded) {
  DagBuilder both, behind, front;
  pad(both, both.input("X", {1, 2, 3}), 2, 1, uniform_window(1, 1, 2));
  EXPECT_EQ(text_of(both), "X.pad[i:1, j:2, k:7] = select(2 <= k && k < 5, X[i, j, k - 2], 0.0)\n");
  Window window;
  window.padding = {0};
  window.padding_after = {2};
  pad(behind, behind.input("X", {1, 2, 3}), 2, 1, window, -1);
  EXPECT_EQ(text_of(behind), "X.pad[i:1, j:2, k:5] = select(k < 3, X[i, j, k], -1.0)\n");
  window.padding = {1};
  window.padding_after = {0};
  pad(front, front.input("X", {1, 2, 3}), 2, 1, window);
  EXPECT_EQ(text_of(front), "X.pad[i:1, j:2, k:4] = select(1 <= k, X[i, j, k - 1], 0.0)\n");
}

TEST(OpsPad, NegativePaddingsCut) {
  Window window;
  window.padding = {-1};
  window.padding_after = {-2};
  DagBuilder builder;
  const Tensor x = builder.input("X", {1, 1, 6});
  pad(builder, x, 2, 1, window);
  EXPECT_EQ(text_of(builder), "input X[1, 1, 6]\nX.pad[i:1, j:1, k:3] = X[i, j, k + 1]\n");
  EXPECT_EQ(computed(builder.build(), {counted(6)}), (std::vector<double>{2, 3, 4}));
}

TEST(OpsPad, TakesDimensionsFromTheFirstOn) {
  DagBuilder builder;
  const Tensor x = builder.input("X", {2, 2});
  Window window;
  window.padding = {1, 0};
  window.padding_after = {0, 1};
  const Tensor padded = pad(builder, x, 0, 2, window, 9);
  EXPECT_EQ(padded->shape, (std::vector<int64_t>{3, 3}));
  EXPECT_EQ(computed(builder.build(), {counted(4)}), (std::vector<double>{9, 9, 9, 1, 2, 9, 3, 4, 9}));
}

TEST(OpsPad, KeepsTheTypeAndTakesAFreeName) {
  DagBuilder builder;
  const Tensor x = builder.input("X", {1, 1, 2}, DType::i32);
  const Tensor first = pad(builder, x, 2, 1, uniform_window(1, 1, 1), 7);
  const Tensor second = pad(builder, x, 2, 1, uniform_window(1, 1, 2));
  EXPECT_EQ(first->dtype, DType::i32);
  EXPECT_EQ(first->name, "X.pad");
  EXPECT_EQ(second->name, "X.pad.2");
  EXPECT_EQ(computed(builder.build(), {counted(2)}), (std::vector<double>{7, 1, 2, 7}));
}

}  // namespace
}  // namespace lathe
