// What casts become: folded by LLVM where the value is a constant, so each result can be read off; what the
// same casts give on a machine is in codegen/conversions_test.cpp.
#include "codegen/llvm/conversions.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "codegen/llvm/ir_function.h"

namespace lathe::testing {
namespace {

using llvm_backend::convert;
using llvm_backend::storage_bits;

llvm::Constant* constant(IrFunction& f, DType dtype, double value) {
  llvm::Type* type = llvm_backend::value_type(f.context, {dtype, 1});
  if (type->isFloatingPointTy()) return llvm::ConstantFP::get(type, value);
  return llvm::ConstantInt::getSigned(type, static_cast<int64_t>(value));
}

std::string converted(DType from, double value, DType to) {
  IrFunction f;
  llvm::Value* result = convert(f.builder, constant(f, from, value), from, {to, 1});
  EXPECT_EQ(f.text(), "") << "not folded";
  return text_of(result);
}

struct Case {
  DType from;
  double value;
  DType to;
  const char* result;
};

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(LlvmConversions, FloatsBecomeTheNearestIntegerTowardsZeroThatThereIs) {
  for (const Case& c :
       {Case{DType::f32, 2.9, DType::i32, "i32 2"}, Case{DType::f32, -2.9, DType::i32, "i32 -2"},
        Case{DType::f32, kNan, DType::i32, "i32 0"},
        Case{DType::f32, 2147483520, DType::i32, "i32 2147483520"},
        Case{DType::f32, 2147483648, DType::i32, "i32 2147483647"},
        Case{DType::f32, -2147483648.0, DType::i32, "i32 -2147483648"},
        Case{DType::f32, -3e9, DType::i32, "i32 -2147483648"},
        Case{DType::f64, 2147483646.5, DType::i32, "i32 2147483646"},
        Case{DType::f64, 2147483647.9, DType::i32, "i32 2147483647"},
        Case{DType::f64, INFINITY, DType::i64, "i64 9223372036854775807"},
        Case{DType::f64, -INFINITY, DType::i64, "i64 -9223372036854775808"},
        Case{DType::f32, 255.9, DType::u8, "i8 -1"}, Case{DType::f32, 256, DType::u8, "i8 -1"},
        Case{DType::f32, -0.5, DType::u8, "i8 0"}, Case{DType::f32, -7, DType::u16, "i16 0"},
        Case{DType::f32, 127.99, DType::i8, "i8 127"}, Case{DType::f32, -128.99, DType::i8, "i8 -128"},
        Case{DType::f32, -200, DType::i8, "i8 -128"}})
    EXPECT_EQ(converted(c.from, c.value, c.to), c.result) << c.value << " as " << to_string(c.to);
}

TEST(LlvmConversions, IntegersGrowByTheirSignAndShrinkByLeavingOut) {
  for (const Case& c :
       {Case{DType::i8, -3, DType::i32, "i32 -3"},
        Case{DType::u8, -3, DType::i32, "i32 253"},  // the bits of 253
        Case{DType::u8, -3, DType::i16, "i16 253"}, Case{DType::u16, -1, DType::i64, "i64 65535"},
        Case{DType::boolean, 1, DType::i32, "i32 1"}, Case{DType::i32, 300, DType::i8, "i8 44"},
        Case{DType::i32, 300, DType::u8, "i8 44"}, Case{DType::i64, -1, DType::u16, "i16 -1"}})
    EXPECT_EQ(converted(c.from, c.value, c.to), c.result);
}

TEST(LlvmConversions, IntegersBecomeFloatsByTheirSign) {
  for (const Case& c : {Case{DType::i8, -3, DType::f32, "float -3.000000e+00"},
                        Case{DType::u8, -3, DType::f32, "float 2.530000e+02"},
                        Case{DType::u16, -1, DType::f64, "double 6.553500e+04"},
                        Case{DType::boolean, 1, DType::f32, "float 1.000000e+00"}})
    EXPECT_EQ(converted(c.from, c.value, c.to), c.result);
}

TEST(LlvmConversions, BooleansAreWhatIsNotZero) {
  for (const Case& c :
       {Case{DType::f32, -0.0, DType::boolean, "i1 false"}, Case{DType::f32, kNan, DType::boolean, "i1 true"},
        Case{DType::f64, 1e-300, DType::boolean, "i1 true"}, Case{DType::i32, 256, DType::boolean, "i1 true"},
        Case{DType::u8, 0, DType::boolean, "i1 false"}})
    EXPECT_EQ(converted(c.from, c.value, c.to), c.result);
}

// Constants as their bits: 1.0 is 0x3f80 in bf16, 0x3c00 in f16.
TEST(LlvmConversions, HalfFloatsAreRoundedToNearestEven) {
  const double inf = INFINITY;
  for (const Case& c :
       {Case{DType::f32, 1, DType::bf16, "i16 16256"},
        Case{DType::f32, 1 + 0x1p-8, DType::bf16, "i16 16256"},  // a tie, to even
        Case{DType::f32, 1 + 0x1p-8 + 0x1p-20, DType::bf16, "i16 16257"},
        Case{DType::f32, 1 + 3 * 0x1p-8, DType::bf16, "i16 16258"},  // a tie, to even
        Case{DType::f32, -2, DType::bf16, "i16 -16384"}, Case{DType::f32, inf, DType::bf16, "i16 32640"},
        Case{DType::f32, 3.4e38, DType::bf16, "i16 32640"}, Case{DType::f32, kNan, DType::bf16, "i16 32704"},
        Case{DType::f32, 1, DType::f16, "i16 15360"}, Case{DType::f32, 1 + 0x1p-11, DType::f16, "i16 15360"},
        Case{DType::f32, 1 + 3 * 0x1p-11, DType::f16, "i16 15362"},
        Case{DType::f32, 65520, DType::f16, "i16 31744"}, Case{DType::f32, 0x1p-24, DType::f16, "i16 1"}})
    EXPECT_EQ(converted(c.from, c.value, c.to), c.result) << c.value << " as " << to_string(c.to);
  EXPECT_EQ(converted(DType::bf16, 16257, DType::f32), "float 0x3FF0200000000000");
  EXPECT_EQ(converted(DType::f16, 15361, DType::f32), "float 0x3FF0040000000000");
  EXPECT_EQ(converted(DType::f16, 1, DType::f32), "float 0x3E70000000000000");
}

TEST(LlvmConversions, OfTheSameTypeNothingIsDone) {
  IrFunction f({{DType::f32, 8}});
  EXPECT_EQ(convert(f.builder, f.value(0), DType::f32, {DType::f32, 8}), f.value(0));
  EXPECT_EQ(f.text(), "");
}

// Where the type's largest integer is a float, what is clamped to it needs no second look; where its least is
// 0, nor does NaN.
TEST(LlvmConversions, OnlyEndsThatNoFloatIsAreLookedAtAgain) {
  for (const auto& [from, to, comparisons] : {std::tuple{DType::f32, DType::u8, 2},
                                              {DType::f32, DType::i16, 3},
                                              {DType::f32, DType::i32, 4},
                                              {DType::f64, DType::i32, 3},
                                              {DType::f64, DType::i64, 4}}) {
    IrFunction f({{from, 8}});
    convert(f.builder, f.value(0), from, {to, 8});
    const std::string text = f.text();
    int found = 0;
    for (size_t at = text.find("fcmp"); at != std::string::npos; at = text.find("fcmp", at + 1)) ++found;
    EXPECT_EQ(found, comparisons) << to_string(from) << " to " << to_string(to);
    EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr("fptosi.sat")));
  }
}

TEST(LlvmConversions, LiteralsOfHalfFloatsAreTheirBits) {
  EXPECT_EQ(storage_bits(DType::f16, 1), 0x3c00U);
  EXPECT_EQ(storage_bits(DType::f16, -1.5), 0xbe00U);
  EXPECT_EQ(storage_bits(DType::bf16, 1), 0x3f80U);
  EXPECT_EQ(storage_bits(DType::bf16, -INFINITY), 0xff80U);
}

}  // namespace
}  // namespace lathe::testing
