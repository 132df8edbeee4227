// Convolutions by hand, and what is refused; their formulas: semantics_test.cpp.
#include "ops/conv.h"

#include "ops/small_dags.h"

namespace lathe {
namespace {

using ops_testing::computed;
using ops_testing::counted;
using ops_testing::operator_of;
using ops_testing::refusal_of;
using ops_testing::text_of;

TEST(OpsConv, SlidesItsKernelUnturned) {
  DagBuilder builder;
  const Tensor i = builder.input("I", {1, 1, 4}), w = builder.input("W", {1, 1, 2});
  conv(builder, "O", i, w, {});
  EXPECT_EQ(text_of(builder), "O[n:1, f:1, x:3] = sum(c:1, kx:2) I[n, c, x + kx] * W[f, c, kx]\n");
  EXPECT_EQ(computed(builder.build(), {counted(4), {1, 10}}), (std::vector<double>{21, 32, 43}));
}

TEST(OpsConv, StridesDilatesAndPadsEachAxisByItself) {
  Window window;
  window.stride = {1, 2};
  window.padding = {0, 1};
  window.padding_after = {1, 0};
  window.dilation = {2, 1};
  DagBuilder builder;
  const Tensor i = builder.input("I", {1, 1, 3, 3}), w = builder.input("W", {1, 1, 2, 2});
  const Tensor o = conv(builder, "O", i, w, window);
  EXPECT_EQ(o->shape, (std::vector<int64_t>{1, 1, 2, 2}));
  // Rows 0, 2 and 1, 3 (padded); columns -1, 0 and 1, 2.
  EXPECT_EQ(computed(builder.build(), {counted(9), {1, 10, 100, 1000}}),
            (std::vector<double>{7010, 9832, 40, 65}));
}

TEST(OpsConv, GroupsSeeTheirOwnChannels) {
  DagBuilder builder;
  const Tensor i = builder.input("I", {1, 4, 1}), w = builder.input("W", {2, 2, 1});
  conv(builder, "O", i, w, {}, 2);
  EXPECT_EQ(text_of(builder), "O[n:1, f:2, x:1] = sum(c:2, kx:1) I[n, 2*f + c, x + kx] * W[f, c, kx]\n");
  EXPECT_EQ(computed(builder.build(), {{1, 10, 100, 1000}, {1, 2, 3, 4}}), (std::vector<double>{21, 4300}));
}

TEST(OpsConv, DepthwiseHasAMultiplier) {
  DagBuilder builder;
  const Tensor i = builder.input("I", {1, 2, 2, 1}), w = builder.input("W", {2, 2, 2, 1});
  depthwise_conv(builder, "O", i, w, {});
  EXPECT_EQ(computed(builder.build(), {counted(4), {1, 0, 0, 1, 2, 0, 0, 2}}),
            (std::vector<double>{1, 2, 6, 8}));
}

constexpr const char* kParameters =
    R"({"batch": 1, "height": 6, "width": 5, "in_channels": 4, "out_channels": 6, "kernel": 3, "stride": 1,
        "padding": 0)";

std::string with_parameters(const std::string& more) { return kParameters + more + "}"; }

TEST(OpsConv, NamesParametersThatDoNotFit) {
  EXPECT_EQ(refusal_of("conv2d", with_parameters(R"(, "groups": 4)")),
            "4 groups do not divide both 4 input and 6 output channels");
  EXPECT_EQ(refusal_of("conv2d", with_parameters(R"(, "groups": 3)")),
            "3 groups do not divide both 4 input and 6 output channels");
  EXPECT_EQ(refusal_of("conv2d", with_parameters(R"(, "groups": 2)")), "made");
  EXPECT_EQ(refusal_of("conv2d", with_parameters(R"(, "dilation": 3)")),
            "a kernel of 3 with dilation 3 does not fit an input of 6 with padding 0 and 0");
  EXPECT_EQ(refusal_of("conv2d_bn_relu", with_parameters(R"(, "dilation": 3)")),
            "a kernel of 3 with dilation 3 does not fit an input of 6 with padding 0 and 0");
  EXPECT_EQ(refusal_of("depthwise_conv2d", R"({"batch": 1, "height": 2, "width": 5, "channels": 4,
                                               "kernel": 3, "stride": 1, "padding": 0})"),
            "a kernel of 3 with dilation 1 does not fit an input of 2 with padding 0 and 0");
  EXPECT_EQ(refusal_of("conv2d", with_parameters(R"(, "groups": 0)")),
            "'groups' of conv2d is an integer from 1 to 2147483647, not 0");
  EXPECT_EQ(refusal_of("conv1d", R"({"batch": 1, "length": 6, "in_channels": 4, "out_channels": 6,
                                     "kernel": 3, "stride": 1})"),
            "conv1d needs the parameter 'padding'");
}

TEST(OpsConv, WinogradIsRequiredWhereItIsNamed) {
  const Operator made = operator_of("conv2d_winograd", with_parameters("")).value();
  EXPECT_EQ(made.algorithm, "winograd");
  const Operator plain = operator_of("conv2d", with_parameters("")).value();
  EXPECT_EQ(plain.algorithm, "");
  EXPECT_EQ(to_string(made.dag), to_string(plain.dag));
  EXPECT_EQ(
      refusal_of("conv2d_winograd", with_parameters(R"(, "dilation": 2)")),
      "conv2d_winograd is for convolutions of stride 1 without dilation and groups, with kernels of 2 to "
      "5, and its 'dilation' is 2: Winograd's algorithm computes no other");
  EXPECT_EQ(
      refusal_of("conv2d_winograd", with_parameters(R"(, "groups": 2)")),
      "conv2d_winograd is for convolutions of stride 1 without dilation and groups, with kernels of 2 to "
      "5, and its 'groups' is 2: Winograd's algorithm computes no other");
  EXPECT_EQ(
      refusal_of("conv2d_winograd", R"({"batch": 1, "height": 9, "width": 9, "in_channels": 1,
                                              "out_channels": 1, "kernel": 6, "stride": 1, "padding": 0})"),
      "conv2d_winograd is for convolutions of stride 1 without dilation and groups, with kernels of 2 to "
      "5, and its 'kernel' is 6: Winograd's algorithm computes no other");
}

TEST(OpsConv, SpatialParametersAreNamedByTheDimensions) {
  const auto names = [](size_t dimensions) {
    std::string text;
    for (const OperatorParameter& parameter : spatial_parameters(dimensions))
      text += std::string(parameter.name) + " ";
    return text;
  };
  EXPECT_EQ(names(1), "length ");
  EXPECT_EQ(names(2), "height width ");
  EXPECT_EQ(names(3), "depth height width ");
  Parameters parameters;
  parameters.set("width", 5);
  parameters.set("height", 4);
  EXPECT_EQ(spatial_extents(parameters, 2), (std::vector<int64_t>{4, 5}));
}

// As many operations as multiply-adds twice, scale and shift apart.
TEST(OpsConv, CountsTheDirectForm) {
  EXPECT_EQ(operator_of("conv3d", R"({"batch": 2, "depth": 3, "height": 4, "width": 5, "in_channels": 6,
                                      "out_channels": 7, "kernel": 2, "stride": 1, "padding": 0})")
                .value()
                .flops,
            2 * 2 * (2 * 3 * 4) * 6 * 7 * 8);
  EXPECT_EQ(operator_of("depthwise_conv2d", R"({"batch": 2, "height": 4, "width": 5, "channels": 3,
                                                "kernel": 3, "stride": 1, "padding": 0, "multiplier": 2})")
                .value()
                .flops,
            2 * 2 * 3 * 2 * (2 * 3) * 9);
}

}  // namespace
}  // namespace lathe
