#include "runtime/loader.h"

#include <gtest/gtest.h>

#include <array>

#include "runtime/c_object.h"

namespace lathe {
namespace {

std::string load_failure(const Module& module) {
  const Result<LoadedModule> loaded = load_object(module);
  if (loaded.has_value()) return "no error";
  EXPECT_EQ(loaded.error().kind, ErrorKind::load);
  return loaded.error().to_string();
}

TEST(LlvmLoader, LoadsCodeWithConstantsAndMemoryFunctions) {
  const Module module =
      unary_module("memcpy(B, A, n * 4); memset(B, 0, 4); B[1] += table[(int)A[1]];", 4,
                   "typedef unsigned long size;\n"
                   "void* memcpy(void*, const void*, size); void* memset(void*, int, size);\n"
                   "volatile size n = 4; static const float table[] = {10, 20, 30};");
  const Result<LoadedModule> loaded = load_object(module);
  ASSERT_TRUE(loaded.has_value()) << loaded.error().to_string();
  EXPECT_EQ(loaded->prepare(), nullptr);
  std::array<float, 4> a = {1, 2, 3, 4};
  std::array<float, 4> b = {};
  const std::array<void*, 2> buffers = {a.data(), b.data()};
  EXPECT_EQ(loaded->kernel()(buffers.data(), nullptr, nullptr, nullptr), 0);
  EXPECT_EQ(b, (std::array<float, 4>{0, 32, 3, 4}));
}

TEST(LlvmLoader, GivesTheMemoryBackAndLoadsAgain) {
  const Module module = unary_module("B[0] = A[0];", 1);
  for (int i = 0; i < 200; ++i) {
    const Result<LoadedModule> loaded = load_object(module);
    ASSERT_TRUE(loaded.has_value());
  }
}

TEST(LlvmLoader, NamesAnUnknownSymbol) {
  EXPECT_EQ(load_failure(unary_module("B[0] = sinf(A[0]); zoo();", 1, "float sinf(float); void zoo(void);")),
            "the object refers to the symbol 'sinf': only memcpy, memset and functions of f64 are provided");
}

TEST(LlvmLoader, NamesAnEntryThatIsNotThere) {
  Module module = unary_module("B[0] = A[0];", 1);
  module.prepare_symbol = "prepare";
  EXPECT_EQ(load_failure(module), "the object does not define the entry 'prepare'");
  module.kernel_symbol = "main";
  EXPECT_EQ(load_failure(module), "the object does not define the entry 'main'");
}

TEST(LlvmLoader, RefusesWhatIsNoObject) {
  Module module;
  module.object = "this is not an object";
  module.kernel_symbol = "kernel";
  EXPECT_EQ(load_failure(module).rfind("the object cannot be read: ", 0), 0u) << load_failure(module);
  module.object = compile_c("int kernel;").substr(0, 100);
  EXPECT_EQ(load_failure(module).rfind("the object cannot be read: ", 0), 0u) << load_failure(module);
}

}  // namespace
}  // namespace lathe
