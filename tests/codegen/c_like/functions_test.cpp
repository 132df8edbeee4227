// Types, the functions that a program needs and no others, and what those give,
// compiled by the system's compiler and run.
#include "codegen/c_like/functions.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fstream>

#include "base/shell.h"
#include "base/temporary_folder.h"

namespace lathe::testing {
namespace {

using c_like::functions_of;
using c_like::type_name;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Functions, TypesOfC) {
  for (const auto& [dtype, name] : {std::pair{DType::boolean, "uint8_t"},
                                    {DType::i8, "int8_t"},
                                    {DType::u8, "uint8_t"},
                                    {DType::i16, "int16_t"},
                                    {DType::u16, "uint16_t"},
                                    {DType::i32, "int32_t"},
                                    {DType::i64, "int64_t"},
                                    {DType::f16, "uint16_t"},
                                    {DType::bf16, "uint16_t"},
                                    {DType::f32, "float"},
                                    {DType::f64, "double"}})
    EXPECT_STREQ(type_name(dtype), name) << to_string(dtype);
}

TEST(Functions, EveryFileHasTheFloatsFunctions) {
  const std::string text = functions_of("");
  EXPECT_THAT(text, AllOf(HasSubstr("lathe_fma_f32"), HasSubstr("lathe_floor_f64")));
  EXPECT_THAT(text, AllOf(Not(HasSubstr("LATHE_EXTREMA(i32")), Not(HasSubstr("_of_f16(")),
                          Not(HasSubstr("_of_bf16("))));
}

TEST(Functions, IntegersAreThereWhereTheyAreCalled) {
  const std::string of_i32 = functions_of("x = lathe_add_i32(a, b);");
  EXPECT_THAT(of_i32, HasSubstr("LATHE_SIGNED(i32, int32_t)"));
  EXPECT_THAT(of_i32, Not(HasSubstr("LATHE_SIGNED(i8, int8_t)")));
  EXPECT_THAT(functions_of("lathe_u8_of_f32(a)"),
              AllOf(HasSubstr("LATHE_UNSIGNED(u8, uint8_t)"),
                    HasSubstr("LATHE_SATURATED(f32, float, u8, uint8_t, 0, UINT8_MAX, 0x1p8f)")));
  EXPECT_THAT(functions_of("lathe_i16_of_f64(a)"), HasSubstr("INT16_MIN, INT16_MAX, 0x1p15f)"));
}

TEST(Functions, HalfFloatsAreThereWhereTheyAreConverted) {
  EXPECT_THAT(functions_of("lathe_f32_of_bf16(a)"),
              AllOf(HasSubstr("lathe_bf16_of_f32(float"), Not(HasSubstr("lathe_f16_of_f32"))));
  EXPECT_THAT(functions_of("lathe_f16_of_f32(a)"),
              AllOf(HasSubstr("lathe_f32_of_f16(uint16_t"), Not(HasSubstr("bf16"))));
}

// What is compiled below, each a condition that must hold; INFINITY and NAN among the arguments.
constexpr const char* kConditions[] = {"lathe_floor_f32(-0.5f) == -1.0f",
                                       "lathe_floor_f32(-8388609.0f) == -8388609.0f",
                                       "signbit(lathe_floor_f32(-0.0f))",
                                       "lathe_floor_f32(INFINITY) == INFINITY",
                                       "lathe_floor_f32(NAN) != lathe_floor_f32(NAN)",
                                       "lathe_floor_f64(4503599627370495.5) == 4503599627370495.0",
                                       "lathe_ceil_f32(0.25f) == 1.0f",
                                       "signbit(lathe_ceil_f32(-0.25f))",
                                       "lathe_truncate_f32(-1.75f) == -1.0f",
                                       "lathe_truncate_f64(1e300) == 1e300",
                                       "lathe_round_f32(2.5f) == 2.0f",
                                       "lathe_round_f32(3.5f) == 4.0f",
                                       "lathe_round_f32(-0.5f) == 0.0f",
                                       "lathe_round_f64(0.49999999999999994) == 0.0",
                                       "lathe_copy_sign_f32(2.0f, -0.0f) == -2.0f",
                                       "lathe_pow2_f32(-126.0f) == 0x1p-126f",
                                       "lathe_pow2_f64(1023.0) == 0x1p1023",
                                       "lathe_exponent_f32(0.75f) == -1.0f",
                                       "lathe_exponent_f64(8.0) == 3.0",
                                       "lathe_mantissa_f32(12.0f) == 1.5f",
                                       "lathe_mantissa_f64(0x1.8p-7) == 1.5",
                                       "lathe_min_f32(1.0f, 2.0f) == 1.0f",
                                       "lathe_max_f64(1.0, 2.0) == 2.0",
                                       "isnan(lathe_min_f32(NAN, 2.0f))",
                                       "isnan(lathe_max_f32(2.0f, NAN))",
                                       "lathe_max_i32(-5, 3) == 3",
                                       "lathe_min_u8(200, 7) == 7",
                                       "lathe_add_i32(INT32_MAX, 1) == INT32_MIN",
                                       "lathe_sub_i32(INT32_MIN, 1) == INT32_MAX",
                                       "lathe_mul_i8(16, 16) == 0",
                                       "lathe_mul_i64(INT64_MAX, 2) == -2",
                                       "lathe_neg_i32(INT32_MIN) == INT32_MIN",
                                       "lathe_abs_i8(-128) == -128",
                                       "lathe_abs_i32(-7) == 7",
                                       "lathe_div_i32(-7, 2) == -4",
                                       "lathe_div_i32(7, -2) == -4",
                                       "lathe_div_i32(-8, 2) == -4",
                                       "lathe_div_i32(5, 0) == 0",
                                       "lathe_div_i32(INT32_MIN, -1) == INT32_MIN",
                                       "lathe_mod_i32(-7, 2) == 1",
                                       "lathe_mod_i32(7, -2) == -1",
                                       "lathe_mod_i32(5, 0) == 5",
                                       "lathe_add_u8(250, 10) == 4",
                                       "lathe_div_u8(250, 7) == 35",
                                       "lathe_div_u8(3, 0) == 0",
                                       "lathe_mod_u8(250, 7) == 5",
                                       "lathe_mod_u8(3, 0) == 3",
                                       "lathe_i32_of_f32(2.9f) == 2",
                                       "lathe_i32_of_f32(-2.9f) == -2",
                                       "lathe_i32_of_f32(NAN) == 0",
                                       "lathe_i32_of_f32(3e9f) == INT32_MAX",
                                       "lathe_i32_of_f32(-INFINITY) == INT32_MIN",
                                       "lathe_i8_of_f64(127.9) == 127",
                                       "lathe_i8_of_f64(128.0) == 127",
                                       "lathe_u8_of_f32(-0.5f) == 0",
                                       "lathe_u8_of_f32(255.9f) == 255",
                                       "lathe_u8_of_f32(256.0f) == 255",
                                       "lathe_i64_of_f64(-0x1p63) == INT64_MIN",
                                       "lathe_f32_of_bf16(0x3f80) == 1.0f",
                                       "lathe_bf16_of_f32(1.0f + 0x1p-8f) == 0x3f80",
                                       "lathe_bf16_of_f32(1.0f + 3 * 0x1p-8f) == 0x3f82",
                                       "lathe_bf16_of_f32(NAN) != 0x7f80",
                                       "lathe_f32_of_f16(0x0001) == 0x1p-24f",
                                       "lathe_f32_of_f16(0xfc00) == -INFINITY",
                                       "lathe_f16_of_f32(65519.0f) == 0x7bff",
                                       "lathe_f16_of_f32(65520.0f) == 0x7c00",
                                       "lathe_f16_of_f32(-0x1p-25f) == 0x8000",
                                       "lathe_f16_of_f32(0x1.8p-24f) == 0x0002"};

TEST(Functions, ItsFunctionsGiveWhatTheyShould) {
  std::string body;
  for (const char* condition : kConditions)
    body += fmt::format("  if (!({0})) {{ puts(\"{0}\"); ++faults; }}\n", condition);
  const std::string program =
      fmt::format("int main(void) {{\n  int faults = 0;\n{}  return faults;\n}}\n", body);
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "test.c")
      << "#include <math.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <string.h>\n"
      << functions_of(program) << program;
  const std::string base = folder.path() / "test";
  ASSERT_EQ(run_in_shell(
                fmt::format("cc -std=c99 -Wall -Wextra -Wno-unused-function -Werror {0}.c -o {0} -lm", base)),
            0);
  EXPECT_EQ(run_in_shell(base + " > " + base + ".txt"), 0) << [&] {
    std::ifstream text(base + ".txt");
    return std::string(std::istreambuf_iterator<char>(text), {});
  }();
}

}  // namespace
}  // namespace lathe::testing
