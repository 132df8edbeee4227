// Transposed convolutions by hand, and what is refused; their formula: semantics_test.cpp.
#include "ops/conv_transpose.h"

#include "ops/small_dags.h"

namespace lathe {
namespace {

using ops_testing::computed;
using ops_testing::operator_of;
using ops_testing::refusal_of;
using ops_testing::text_of;

std::vector<double> transposed(const std::vector<double>& data, const std::vector<double>& weight,
                               const Window& window) {
  DagBuilder builder;
  const Tensor i = builder.input("I", {1, 1, static_cast<int64_t>(data.size())}),
               w = builder.input("W", {1, 1, static_cast<int64_t>(weight.size())});
  conv_transpose(builder, "O", i, w, window);
  return computed(builder.build(), {data, weight});
}

TEST(OpsConvTranspose, EachElementScattersTheKernel) {
  EXPECT_EQ(transposed({1, 2}, {1, 10, 100}, {}), (std::vector<double>{1, 12, 120, 200}));
  EXPECT_EQ(transposed({1, 2}, {1, 10, 100}, uniform_window(1, 2, 0)),
            (std::vector<double>{1, 10, 102, 20, 200}));
  EXPECT_EQ(transposed({1, 2}, {1, 10}, uniform_window(1, 3, 0)), (std::vector<double>{1, 10, 0, 2, 20}));
}

TEST(OpsConvTranspose, PaddingsCutTheResult) {
  EXPECT_EQ(transposed({1, 2}, {1, 10, 100}, uniform_window(1, 2, 1)), (std::vector<double>{10, 102, 20}));
  Window window = uniform_window(1, 2, 0);
  window.padding_after = {2};
  EXPECT_EQ(transposed({1, 2}, {1, 10, 100}, window), (std::vector<double>{1, 10, 102}));
}

TEST(OpsConvTranspose, DilatesTheKernel) {
  EXPECT_EQ(transposed({1, 2}, {1, 10}, uniform_window(1, 1, 0, 3)), (std::vector<double>{1, 2, 0, 10, 20}));
}

TEST(OpsConvTranspose, GroupsHaveChannelsAndMapsOfTheirOwn) {
  DagBuilder builder;
  const Tensor i = builder.input("I", {1, 4, 1}), w = builder.input("W", {4, 2, 1});
  const Tensor o = conv_transpose(builder, "O", i, w, {}, 2);
  EXPECT_EQ(o->shape, (std::vector<int64_t>{1, 4, 1}));
  // The first two channels give the first two maps.
  EXPECT_EQ(computed(builder.build(), {{1, 10, 100, 1000}, {1, 2, 3, 4, 5, 6, 7, 8}}),
            (std::vector<double>{31, 42, 7500, 8600}));
}

// Without a stride nothing is spread out, and with a kernel of one nothing padded.
TEST(OpsConvTranspose, LeavesOutComputesThatDoNothing) {
  DagBuilder builder;
  const Tensor i = builder.input("I", {1, 1, 3}), w = builder.input("W", {1, 1, 1});
  conv_transpose(builder, "O", i, w, {});
  EXPECT_EQ(text_of(builder), "O[n:1, f:1, x:3] = sum(c:1, kx:1) I[n, c, x + kx] * W[c, f, -kx]\n");
}

TEST(OpsConvTranspose, NamesPaddingThatLeavesNothing) {
  EXPECT_EQ(refusal_of("conv1d_transpose", R"({"batch": 1, "length": 2, "in_channels": 1, "out_channels": 1,
                                               "kernel": 3, "stride": 1, "padding": 2})"),
            "padding 2 leaves nothing of an input of 2");
  EXPECT_EQ(refusal_of("conv1d_transpose", R"({"batch": 1, "length": 3, "in_channels": 1, "out_channels": 1,
                                               "kernel": 3, "stride": 1, "padding": 2})"),
            "made");
  EXPECT_EQ(refusal_of("conv2d_transpose", R"({"batch": 1, "height": 9, "width": 2, "in_channels": 1,
                                               "out_channels": 1, "kernel": 3, "stride": 1, "padding": 2})"),
            "padding 2 leaves nothing of an input of 2");
}

TEST(OpsConvTranspose, CountsAMultiplyAddForEachTapOfEachElement) {
  const Operator made = operator_of("conv2d_transpose", R"({"batch": 2, "height": 3, "width": 4,
                          "in_channels": 5, "out_channels": 6, "kernel": 2, "stride": 3, "padding": 0})")
                            .value();
  EXPECT_EQ(made.flops, 2 * 2 * 3 * 4 * 5 * 6 * 4);
  EXPECT_EQ(made.constants, std::vector<std::string>{"W"});
}

}  // namespace
}  // namespace lathe
