#include "codegen/llvm/types.h"

#include <gtest/gtest.h>

#include "codegen/llvm/ir_function.h"

namespace lathe::testing {
namespace {

using llvm_backend::memory_type;
using llvm_backend::value_type;

struct Row {
  Type type;
  const char* value;
  const char* memory;
};

TEST(LlvmTypes, ValuesAndWhatLiesInMemory) {
  llvm::LLVMContext context;
  for (const Row& row :
       {Row{{DType::boolean, 1}, "i1", "i8"}, Row{{DType::boolean, 8}, "<8 x i1>", "<8 x i8>"},
        Row{{DType::i8, 1}, "i8", "i8"}, Row{{DType::u8, 16}, "<16 x i8>", "<16 x i8>"},
        Row{{DType::i16, 2}, "<2 x i16>", "<2 x i16>"}, Row{{DType::u16, 1}, "i16", "i16"},
        Row{{DType::i32, 1}, "i32", "i32"}, Row{{DType::i64, 3}, "<3 x i64>", "<3 x i64>"},
        Row{{DType::f16, 1}, "i16", "i16"}, Row{{DType::bf16, 4}, "<4 x i16>", "<4 x i16>"},
        Row{{DType::f32, 8}, "<8 x float>", "<8 x float>"}, Row{{DType::f64, 1}, "double", "double"}}) {
    EXPECT_EQ(text_of(value_type(context, row.type)), row.value) << to_string(row.type);
    EXPECT_EQ(text_of(memory_type(context, row.type)), row.memory) << to_string(row.type);
  }
}

// A store writes as many bytes as the table of types says an element has.
TEST(LlvmTypes, ElementsHaveTheirBytes) {
  llvm::LLVMContext context;
  for (const DTypeInfo& info : kDTypes)
    EXPECT_EQ(memory_type(context, {info.dtype, 1})->getPrimitiveSizeInBits(),
              8U * static_cast<unsigned>(info.bytes))
        << info.name;
}

}  // namespace
}  // namespace lathe::testing
