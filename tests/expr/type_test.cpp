// The one table of element types, and what follows from it.
#include "expr/type.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "expr/parse.h"
#include "expr/print.h"
#include "expr/structural_hash.h"
#include "loop/host_tensor.h"

namespace lathe {
namespace {

using ::testing::HasSubstr;

TEST(ElementType, IsReadByTheNameThatItIsPrintedBy) {
  for (const DTypeInfo& info : kDTypes) {
    const Result<DType> parsed = parse_dtype(info.name);
    ASSERT_TRUE(parsed);
    EXPECT_EQ(*parsed, info.dtype);
    EXPECT_STREQ(to_string(*parsed), info.name);
  }
  const Result<DType> unknown = parse_dtype("f31");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message,
            "'f31' is not a type; there are bool, i8, i32, i64, f16, bf16, f32, f64, u8, i16, u16, u32, "
            "u64");
}

TEST(ElementType, FloatsHaveTheirFormatsNumbers) {
  EXPECT_EQ(epsilon_of(DType::f32), static_cast<double>(std::numeric_limits<float>::epsilon()));
  EXPECT_EQ(epsilon_of(DType::f64), std::numeric_limits<double>::epsilon());
  EXPECT_EQ(epsilon_of(DType::f16), 0x1p-10);
  EXPECT_EQ(epsilon_of(DType::bf16), 0x1p-7);
  EXPECT_EQ(largest_of(DType::f32), static_cast<double>(std::numeric_limits<float>::max()));
  EXPECT_EQ(largest_of(DType::f64), std::numeric_limits<double>::max());
  EXPECT_EQ(largest_of(DType::f16), 65504);
  EXPECT_EQ(largest_of(DType::bf16), std::ldexp(255.0, 120));
  EXPECT_EQ(smallest_normal_of(DType::f32), static_cast<double>(std::numeric_limits<float>::min()));
  EXPECT_EQ(smallest_normal_of(DType::f64), std::numeric_limits<double>::min());
  EXPECT_EQ(smallest_normal_of(DType::f16), 0x1p-14);
  EXPECT_EQ(smallest_normal_of(DType::bf16), 0x1p-126);
}

TEST(ElementType, ANumberIsTheNearestElementTowardsZero) {
  EXPECT_EQ(element_of<uint64_t>(0x1p64), UINT64_MAX);
  EXPECT_EQ(element_of<uint64_t>(0x1p63 + 2048), (uint64_t{1} << 63) + 2048);
  EXPECT_EQ(element_of<int64_t>(0x1p63), INT64_MAX);
  EXPECT_EQ(element_of<uint32_t>(-1.5), 0u);
  EXPECT_EQ(element_of<int8_t>(-2.75), -2);
  EXPECT_EQ(element_of<int8_t>(NAN), 0);
  EXPECT_EQ(element_of<float>(0.1), 0.1F);
}

TEST(ElementType, WhatIsStoredIsWhatRoundingGives) {
  Rng rng(1);
  for (const DTypeInfo& info : kDTypes) {
    visit_storage(info.dtype, [&]<class T>(std::type_identity<T>) {
      EXPECT_EQ(static_cast<int>(sizeof(T)), info.bytes) << info.name;
      for (int i = 0; i < 2000; ++i) {
        double value = std::ldexp(2 * rng.uniform() - 1, static_cast<int>(rng.between(-160, 140)));
        if (info.kind != NumberKind::floating) value = static_cast<double>(rng.between(0, 1));
        EXPECT_EQ(static_cast<double>(static_cast<T>(value)), round_to(info.dtype, value))
            << info.name << " " << value;
      }
    });
  }
}

std::string body_of(const std::string& text) {
  const Result<Dag> dag = parse_dag(text);
  EXPECT_TRUE(dag) << dag.error().to_string();
  return dag ? to_string(dag->computes.back().body) : "";
}

std::string error_of(const std::string& text) {
  const Result<Dag> dag = parse_dag(text);
  EXPECT_FALSE(dag) << text;
  return dag ? "" : dag.error().message;
}

TEST(ElementType, HalfFloatsAreWidenedWhereTheyAreComputedWith) {
  const std::string inputs = "input A[4, 5] f16\ninput B[5] bf16\n";
  EXPECT_EQ(body_of(inputs + "C[i:4] = sum(r:5) A[i, r] * B[r]"), "f32(A[i, r]) * f32(B[r])");
  EXPECT_EQ(body_of(inputs + "C[i:4] = sum(r:5) A[i, r]"), "f32(A[i, r])");
  EXPECT_EQ(body_of(inputs + "C[i:5] = exp(B[i]) + 1.5"), "exp(f32(B[i])) + 1.5");
  EXPECT_EQ(body_of(inputs + "C[i:5] = select(B[i] < 0.0, A[0, i], B[i])"),
            "select(f32(B[i]) < 0.0, f32(A[0, i]), f32(B[i]))");
}

TEST(ElementType, HalfFloatsAreMovedAsTheyAre) {
  const std::string inputs = "input A[4, 5] f16\n";
  EXPECT_EQ(body_of(inputs + "C[i:5, j:4] = A[j, i]"), "A[j, i]");
  EXPECT_EQ(body_of(inputs + "C[i:5, j:4] = select(i < 3, A[j, i], f16(0.0))"),
            "select(i < 3, A[j, i], f16(0.0))");
  EXPECT_EQ(body_of(inputs + "C[i:4] = f16(A[i, 0] * 2.0)"), "f16(f32(A[i, 0]) * 2.0)");
}

// To a type that nothing is computed in, and from it, the way leads through f32.
TEST(ElementType, HalfFloatsAreCastThroughWhatTheyAreComputedIn) {
  EXPECT_EQ(body_of("input A[4] f64\nC[i:4] = f16(A[i])"), "f16(f32(A[i]))");
  EXPECT_EQ(body_of("input A[4] bf16\nC[i:4] = i32(A[i])"), "i32(f32(A[i]))");
  EXPECT_EQ(body_of("input A[4] bf16\nC[i:4] = f16(A[i])"), "f16(f32(A[i]))");
  EXPECT_EQ(body_of("C[i:4] = f16(0.1)"), "f16(0.0999755859375)");
}

TEST(ElementType, SomeTypesHoldAllNumbersOfOthers) {
  std::string held;
  for (const DTypeInfo& wide : kDTypes) {
    held += std::string(wide.name) + ":";
    for (const DTypeInfo& narrow : kDTypes)
      if (&wide != &narrow && holds_numbers_of(wide.dtype, narrow.dtype))
        held += std::string(" ") + narrow.name;
    held += "\n";
  }
  EXPECT_EQ(held,
            "bool:\ni8:\ni32: i8 u8 i16 u16\ni64: i8 i32 u8 i16 u16 u32\nf16: i8 u8\nbf16: i8 u8\n"
            "f32: i8 f16 bf16 u8 i16 u16\nf64: i8 i32 f16 bf16 f32 u8 i16 u16 u32\nu8:\ni16: i8 u8\nu16: u8\n"
            "u32: u8 u16\nu64: u8 u16 u32\n");
}

TEST(ElementType, IntegerLiteralsTakeTheTypeBesideThem) {
  EXPECT_EQ(body_of("input A[4] u8\nC[i:4] = A[i] + 200"), "A[i] + u8(200)");
  EXPECT_EQ(body_of("input A[4] i16\nC[i:4] = max(A[i], -7)"), "max(A[i], i16(-7))");
  EXPECT_THAT(error_of("input A[4] u8\nC[i:4] = A[i] + 256"), HasSubstr("256 is no u8"));
  EXPECT_THAT(error_of("input A[4] u8\nC[i:4] = select(i < 2, A[i], 256)"), HasSubstr("256 is no u8"));
  EXPECT_THAT(error_of("input A[4] i8\nC[i:4] = select(i < 2, -129, A[i])"), HasSubstr("-129 is no i8"));
  EXPECT_THAT(error_of("input A[4] u8\nC[i:4] = A[i] - (-1)"), HasSubstr("-1 is no u8"));
  EXPECT_THAT(error_of("input A[4] i32\nC[i:4] = A[i] + 4294967296"), HasSubstr("4294967296 is no i32"));
  EXPECT_THAT(error_of("input A[4] u8\ninput B[4] i8\nC[i:4] = A[i] + B[i]"),
              HasSubstr("differ in type (u8 and i8): cast one"));
}

// Their sums wrap around as values do, so that a condition on one is about the index beside it.
TEST(ElementType, AnyIntegersAreIndices) {
  EXPECT_EQ(body_of("input S[4] u8\ninput X[300]\nC[i:4] = X[S[i] + 1]"), "X[i64(S[i] + u8(1))]");
  EXPECT_EQ(body_of("input S[4] u16\ninput X[70000]\nC[i:4] = X[S[i]]"), "X[i64(S[i])]");
  EXPECT_EQ(body_of("input S[4] u8\ninput X[300]\nC[i:4] = X[i64(S[i]) + 1]"), "X[i64(S[i]) + 1]");
}

// f64(inf) is a literal, whoever made it.
TEST(ElementType, InfiniteLiteralsReadBack) {
  for (const char* body : {"select(A[i] > 0.0, A[i], f16(70000.0))", "select(A[i] > 0.0, f16(nan), A[i])",
                           "select(A[i] > 0.0, A[i], f16(-1e6))", "f16(inf)"}) {
    const Dag dag = parse_dag(fmt::format("input A[4] f16\nC[i:4] = {}", body)).value();
    const Result<Dag> again = parse_dag(to_string(dag));
    ASSERT_TRUE(again) << to_string(dag) << again.error().to_string();
    EXPECT_EQ(hash_of(*again), hash_of(dag)) << to_string(dag);
  }
  EXPECT_EQ(body_of("input A[4] f64\nC[i:4] = select(A[i] > 0.0, A[i], inf)"),
            "select(f64(0.0) < A[i], A[i], f64(inf))");
}

}  // namespace
}  // namespace lathe
