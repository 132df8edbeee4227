#include "graph/tensor_type.h"

#include <gtest/gtest.h>

namespace lathe {
namespace {

TEST(TensorType, PrintsItsElementsAndExtents) {
  EXPECT_EQ(to_string(Shape{1, 3, 224}), "[1,3,224]");
  EXPECT_EQ(to_string(Shape{}), "[]");
  EXPECT_EQ(to_string(TensorType{DType::bf16, {7}}), "bf16[7]");
  EXPECT_EQ(to_string(TensorType{DType::boolean, {}}), "bool[]");
}

TEST(TensorType, CountsElementsAndBytes) {
  EXPECT_EQ(elements_of({}), 1);
  EXPECT_EQ(elements_of({4, 1, 5}), 20);
  EXPECT_EQ(elements_of({int64_t{1} << 40, int64_t{1} << 40, 0}), 0) << "no product of the others is taken";
  EXPECT_EQ(bytes_of(TensorType{DType::i64, {}}), 8);
  EXPECT_EQ(bytes_of(TensorType{DType::f16, {3, 5}}), 30);
  EXPECT_EQ(bytes_of(TensorType{DType::boolean, {3, 5}}), 15);
  EXPECT_EQ(bytes_of(TensorType{DType::f64, {int64_t{1} << 40}}), int64_t{1} << 43);
}

TEST(TensorType, IsAnotherOneForOtherElementsOrExtents) {
  const TensorType type{DType::f32, {2, 3}};
  EXPECT_EQ(type, (TensorType{DType::f32, {2, 3}}));
  EXPECT_NE(type, (TensorType{DType::i32, {2, 3}}));
  EXPECT_NE(type, (TensorType{DType::f32, {3, 2}}));
  EXPECT_NE(type, (TensorType{DType::f32, {2, 3, 1}}));
}

TEST(CheckShape, TakesUpTo2To40Elements) {
  constexpr int64_t kMost = int64_t{1} << 40;
  EXPECT_TRUE(check_shape({}, "t"));
  EXPECT_TRUE(check_shape({1, 1, 1}, "t"));
  EXPECT_TRUE(check_shape({kMost}, "t"));
  EXPECT_TRUE(check_shape({1 << 20, 1, 1 << 20}, "t"));
  EXPECT_EQ(check_shape({kMost + 1}, "tensor 't'").error().to_string(),
            "tensor 't' has shape [1099511627777], which is too large");
  EXPECT_EQ(check_shape({1 << 20, 1 << 20, 2}, "it").error().message,
            "it has shape [1048576,1048576,2], which is too large");
  EXPECT_EQ(check_shape({kMost, 2}, "it").error().kind, ErrorKind::unsupported);
}

// Products of extents that would run beyond 64 bits.
TEST(CheckShape, CountsNoElementsThatItCannotCount) {
  EXPECT_EQ(check_shape({INT64_MAX, INT64_MAX, INT64_MAX}, "it").error().message,
            "it has shape [9223372036854775807,9223372036854775807,9223372036854775807], which is too large");
  EXPECT_FALSE(check_shape({int64_t{1} << 32, int64_t{1} << 32}, "it"));
}

TEST(CheckShape, NamesExtentsBelow1) {
  EXPECT_EQ(check_shape({3, 0}, "tensor 'x'").error().message,
            "tensor 'x' has shape [3,0], and every extent must be at least 1");
  EXPECT_EQ(check_shape({-1}, "initializer 'w'").error().message,
            "initializer 'w' has shape [-1], and every extent must be at least 1");
  // Also behind extents that are too large.
  EXPECT_EQ(check_shape({int64_t{1} << 41, 0}, "it").error().message,
            "it has shape [2199023255552,0], and every extent must be at least 1");
}

TEST(MayBeFolded, RefusesWhatIsMoreThanItsOperandsAndMuch) {
  constexpr int64_t kAlways = int64_t{1} << 24;
  EXPECT_TRUE(may_be_folded(kAlways, 1));
  EXPECT_FALSE(may_be_folded(kAlways + 1, 1));
  EXPECT_TRUE(may_be_folded(kAlways + 1, kAlways + 1));
  EXPECT_FALSE(may_be_folded(kAlways + 2, kAlways + 1));
}

TEST(ComputedTypes, AreThoseThatNetworksRunOn) {
  std::string computed;
  for (const DTypeInfo& info : kDTypes)
    if (is_computed_type(info.dtype)) computed += std::string(info.name) + " ";
  EXPECT_EQ(computed, "bool i8 i32 i64 f32 f64 u8 i16 u16 u32 u64 ");
}

}  // namespace
}  // namespace lathe
