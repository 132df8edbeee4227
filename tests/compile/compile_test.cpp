#include "compile/compile.h"

#include <gmock/gmock.h>

#include "expr/parse.h"
#include "target/all.h"

namespace lathe {
namespace {

using ::testing::HasSubstr;

constexpr const char* kPacked = R"(split C i [6]
split C j [2 8]
reorder C j.0 i.0 r i.1 j.1 j.2
parallel C j.0
unroll C i.1
unroll C j.1
vectorize C j.2
tail C i peel
tail C j pad
cache_read C B B.pack at=prepare scope=workspace layout=[1/16][0][1%16]
cache_write C C.reg at=i.0 scope=registers
tail C.reg.out i guard
tail C.reg.out j mask)";

Task matmul_task(int cores) {
  const Dag dag = parse_dag("C[i:29, j:43] = sum(r:17) A[i,r] * B[r,j]").value();
  return make_task("matmul", dag, with_cores(generic_target("x86-avx2"), cores), {"B"}).value();
}

TEST(Compile, AModuleSaysWhatItsBuffersAre) {
  const Task task = matmul_task(2);
  CompileStats stats;
  const Result<Module> module = compile(task, parse_trace(kPacked).value(), {.symbol_prefix = "mm"}, &stats);
  ASSERT_TRUE(module) << module.error().to_string();
  EXPECT_TRUE(module->object.starts_with("\177ELF"));
  EXPECT_EQ(module->kernel_symbol, "mm_kernel");
  EXPECT_EQ(module->prepare_symbol, "mm_prepare");
  ASSERT_EQ(module->buffers.size(), 4u);
  const auto check = [&](size_t i, const char* name, BufferRole role, int64_t bytes) {
    EXPECT_EQ(module->buffers[i].name, name);
    EXPECT_EQ(module->buffers[i].role, role);
    EXPECT_EQ(module->buffers[i].bytes, bytes);
  };
  check(0, "A", BufferRole::input, 29 * 17 * 4);
  check(1, "B", BufferRole::constant, 17 * 43 * 4);
  check(2, "C", BufferRole::output, 29 * 43 * 4);
  check(3, "B.pack", BufferRole::prepared, 3 * 16 * 17 * 4);
  EXPECT_EQ(module->threads, 2);
  EXPECT_EQ(stats.stack_references, 0);
  EXPECT_GT(stats.innermost_loops, 0);
  EXPECT_GT(stats.machine_seconds, 0);
}

TEST(Compile, WithoutStepsThereIsNothingToPrepare) {
  const Result<Module> module = compile(matmul_task(1), {});
  ASSERT_TRUE(module) << module.error().to_string();
  EXPECT_EQ(module->kernel_symbol, "lathe_kernel");
  EXPECT_EQ(module->prepare_symbol, "");
  EXPECT_EQ(module->buffers.size(), 3u);
}

// Tensors and variables made anew each time must not change a byte: records and replay rely on it.
TEST(Compile, EqualTasksGiveEqualBytes) {
  const auto object = [] { return compile(matmul_task(1), parse_trace(kPacked).value()).value().object; };
  EXPECT_EQ(object(), object());
}

TEST(Compile, AnIllegalStepIsNamed) {
  const Result<Module> module = compile(matmul_task(1), parse_trace("unroll C z").value());
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error().kind, ErrorKind::illegal_schedule);
  EXPECT_EQ(module.error().where, "unroll C z");
}

TEST(Compile, CodeThatGrowsTooLargeIsRefusedBeforeLlvm) {
  const Result<Module> module =
      compile(matmul_task(1), parse_trace("unroll C i\nunroll C j").value(), {.max_statements = 500});
  ASSERT_FALSE(module);
  EXPECT_THAT(module.error().message, HasSubstr("500"));
}

TEST(Compile, EveryFormOfCodeIsText) {
  const Task task = matmul_task(1);
  const Trace trace = parse_trace(kPacked).value();
  const auto text = [&](const char* form) {
    const Result<std::string> result = emit_text(task, trace, form);
    EXPECT_TRUE(result) << result.error().to_string();
    return result.value_or("");
  };
  EXPECT_THAT(text("loops"), HasSubstr("block C"));
  EXPECT_THAT(text("lowered"), HasSubstr("store C["));
  EXPECT_THAT(text("llvm"), HasSubstr("define i32 @lathe_kernel("));
  EXPECT_THAT(text("asm"), HasSubstr("vfmadd"));
  EXPECT_THAT(text("c"), HasSubstr("int lathe_kernel("));
  const Result<std::string> unknown = emit_text(task, trace, "ptx");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message, "'ptx' is no form of code: one of loops, lowered, llvm, asm, c, opencl");
}

}  // namespace
}  // namespace lathe
