// Products whose terms an intrinsic adds up in groups.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "expr/parse.h"
#include "space/all.h"
#include "space/rules/product/product.h"
#include "space/rules/rule_case.h"
#include "target/all.h"

namespace lathe::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Target vnni() { return with_extensions(generic_target("x86-avx512"), {"avx512_vnni", "avx512_bf16"}); }

std::string preferred_text(const std::string& dag, const Target& target, bool free_layouts = false) {
  const Task task = make_task("t", parse_dag(dag).value(), target, {"B"}, free_layouts).value();
  const Result<Space> space = derive_space(task);
  EXPECT_TRUE(space) << space.error().to_string();
  return to_string(space->trace(space->preferred_points().front()).value());
}

std::string matmul(const char* a, const char* b, int terms = 64) {
  const std::string k = std::to_string(terms);
  const bool is_float = std::string(a).ends_with("f16");
  return "input A[48, " + k + "] " + a + "\ninput B[" + k + ", 64] " + b + "\nC[i:48, j:64] = sum(r:" + k +
         (is_float ? ") A[i, r] * B[r, j]\n" : ") i32(A[i, r]) * i32(B[r, j])\n");
}

TEST(ProductTermGroups, FourTermsLieTogetherForVnni) {
  EXPECT_THAT(preferred_text(matmul("u8", "i8"), vnni()),
              AllOf(HasSubstr("layout=[1/32][0/4][1%32][0%4]"), HasSubstr("intrinsic=dot4_u8_i8"),
                    Not(HasSubstr("A.pack")), Not(HasSubstr("type="))));
}

TEST(ProductTermGroups, WithoutItBothAreWidened) {
  EXPECT_THAT(
      preferred_text(matmul("u8", "i8"), generic_target("x86-avx2")),
      AllOf(HasSubstr("cache_read C B B.pack at=prepare scope=workspace layout=[1/"), HasSubstr("[0/2]"),
            HasSubstr("type=i16"), HasSubstr("cache_read C A A.pack at=root scope=workspace layout=[0][1"),
            HasSubstr("vectorize A.pack d1.1"), HasSubstr("intrinsic=dot2_i16")));
}

TEST(ProductTermGroups, PairsOfBf16) {
  EXPECT_THAT(preferred_text(matmul("bf16", "bf16"), vnni()),
              AllOf(HasSubstr("[0/2]"), HasSubstr("intrinsic=dot2_bf16")));
  EXPECT_THAT(preferred_text(matmul("bf16", "bf16"), generic_target("x86-avx512")),
              Not(HasSubstr("tensorize")));
  EXPECT_THAT(preferred_text(matmul("f16", "f16"), vnni()), Not(HasSubstr("tensorize")));
}

TEST(ProductTermGroups, WhatIsLeftOfTheReductionIsPeeled) {
  EXPECT_THAT(preferred_text(matmul("u8", "i8", 63), vnni()),
              AllOf(HasSubstr("split C r [4]"), HasSubstr("tail C r peel")));
  EXPECT_THAT(preferred_text(matmul("u8", "i8"), vnni()), Not(HasSubstr("tail C r")));
}

// The only group of channels is indexed with the channels in it.
TEST(ProductTermGroups, AnAxisOfOnePlaceMayBringTheTermsIn) {
  const RuleCase c(
      "input I[48, 20] u8\ninput B[1, 4, 48] i8\n"
      "C[g:1, i:4, x:20] = sum(c:48) i32(I[48*g + c, x]) * i32(B[g, i, c])",
      {"B"});
  const ProductDecision decision = c.decided(
      {}, [&](Decider& decider) { return decide_product(decider, c.stage(0), {.vector = 2, .rows = 1}); });
  EXPECT_THAT(c.written([&](Writer& writer) { write_product(writer, decision); }),
              AllOf(HasSubstr("layout I [0/2][1/24][1%24][0%2]\n"), HasSubstr("intrinsic=dot2_i16")));
}

// Channels of an image in rows are no neighbours; a copy has them so, or the layout where it is open.
TEST(ProductTermGroups, ChannelsLieTogether) {
  const std::string convolution =
      "input X[32, 10, 10] u8\ninput B[64, 32, 3, 3] i8\n"
      "C[f:64, y:8, x:8] = sum(c:32, p:3, q:3) i32(X[c, y+p, x+q]) * i32(B[f, c, p, q])\n";
  EXPECT_THAT(preferred_text(convolution, vnni()),
              AllOf(HasSubstr("cache_read C X X.pack at=root scope=workspace layout=[1][2][0]"),
                    HasSubstr("intrinsic=dot4_u8_i8")));
  EXPECT_THAT(
      preferred_text(convolution, vnni(), true),
      AllOf(HasSubstr("layout X [1][2][0]"), Not(HasSubstr("X.pack")), HasSubstr("intrinsic=dot4_u8_i8")));
}

// Few of them are copied as vectors along the rows, which come between each other; many, and some that are no
// power of two, one by one.
TEST(ProductTermGroups, FewChannelsAreCopiedAcross) {
  const auto convolution = [](int channels) {
    return fmt::format(
        "input X[{0}, 20, 20] u8\ninput B[64, {0}, 3, 3] i8\n"
        "C[f:64, y:18, x:18] = sum(c:{0}, p:3, q:3) i32(X[c, y+p, x+q]) * i32(B[f, c, p, q])\n",
        channels);
  };
  EXPECT_THAT(preferred_text(convolution(4), vnni()),
              AllOf(HasSubstr("split X.pack d2 [16]\nreorder X.pack d1 d2.0 d0 d2.1\nunroll X.pack d0\n"
                              "vectorize X.pack d2.1\ntail X.pack d2 peel\n"),
                    HasSubstr("intrinsic=dot4_u8_i8")));
  EXPECT_THAT(preferred_text(convolution(12), vnni()), Not(HasSubstr("unroll X.pack")));
  EXPECT_THAT(preferred_text(convolution(64), vnni()), Not(HasSubstr("unroll X.pack")));
}

// Padding that brings the channels together is a pass of its own; where they lie so, it is put into the
// product.
TEST(ProductTermGroups, PaddingBringsTheChannelsTogether) {
  const std::string convolution =
      "input X[32, 8, 8] u8\ninput B[64, 32, 3, 3] i8\n"
      "P[c:32, y:10, x:10] = select(1 <= y && y < 9 && 1 <= x && x < 9, X[c, y-1, x-1], u8(0))\n"
      "C[f:64, y:8, x:8] = sum(c:32, p:3, q:3) i32(P[c, y+p, x+q]) * i32(B[f, c, p, q])\n";
  EXPECT_THAT(preferred_text(convolution, vnni()),
              AllOf(HasSubstr("layout P [1][2][0]"), Not(HasSubstr("inline P")), Not(HasSubstr("P.pack")),
                    HasSubstr("intrinsic=dot4_u8_i8")));
  EXPECT_THAT(
      preferred_text(convolution, vnni(), true),
      AllOf(HasSubstr("inline P"), HasSubstr("layout X [1][2][0]"), HasSubstr("intrinsic=dot4_u8_i8")));
}

}  // namespace
}  // namespace lathe::testing
