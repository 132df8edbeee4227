// OpenCL C of lowered programs: as text, and which kernels are launched with what.
#include "codegen/opencl/emit_opencl.h"

#include <gmock/gmock.h>

#include "codegen/device_programs.h"
#include "compile/compile.h"
#include "lower/programs.h"

namespace lathe::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

LoweredProgram lowered_for_device(const std::string& dag, const std::string& trace) {
  const Program program = scheduled(task_of(dag), trace);
  Result<LoweredProgram> lowered = lower(program, generic_target("opencl"));
  EXPECT_TRUE(lowered) << lowered.error().to_string();
  return *lowered;
}

// From the first kernel on.
std::string kernels(const std::string& text) { return text.substr(text.find("__kernel")); }

constexpr const char* kReversed = "T[i:12] = A[i] + 1.0\nC[i:12] = T[11 - i] * 2.0\n";
constexpr const char* kStaged =
    "split C i [4]\nbind C i.0 block\nbind C i.1 thread\ncompute_at T C i.0 scope=shared\nbind T i thread\n";

TEST(EmitOpenCl, ABlockIsAWorkGroup) {
  const LoweredProgram lowered = lowered_for_device(kReversed, kStaged);
  EXPECT_EQ(kernels(emit_opencl(lowered, entry_symbols("t")).value()),
            R"(__kernel __attribute__((reqd_work_group_size(4, 1, 1)))
void t_kernel_0(__global const float* restrict A, __global float* restrict C) {
  __local float T[4];
  int64_t group = get_group_id(0);
  const int64_t i_0 = group % 3;
  {
    const int64_t thread = get_local_id(0);
    T[thread] = (A[(-4 * i_0 + thread + 8)] + 1.0f);
  }
  LATHE_BARRIER_SHARED();
  {
    const int64_t thread_2 = get_local_id(0);
    C[(4 * i_0 + thread_2)] = (T[(-1 * thread_2 + 3)] * 2.0f);
  }
}
)");
  const std::vector<KernelLaunch> launches = opencl_launches(lowered, lowered.program.main, "t_kernel");
  ASSERT_EQ(launches.size(), 1u);
  EXPECT_EQ(launches[0].function, "t_kernel_0");
  EXPECT_EQ(launches[0].blocks, 3);
  EXPECT_EQ(launches[0].threads, 4);
  EXPECT_THAT(launches[0].buffers, ElementsAre(0, 1));
  EXPECT_FALSE(launches[0].needs_workspace);
}

TEST(EmitOpenCl, WhatLiesBetweenKernelsIsInTheWorkspace) {
  const LoweredProgram lowered =
      lowered_for_device(kReversed, "bind T i block\nsplit C i [4]\nbind C i.1 thread\n");
  const std::vector<KernelLaunch> launches = opencl_launches(lowered, lowered.program.main, "t_kernel");
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_EQ(launches[0].blocks, 12);
  EXPECT_EQ(launches[0].threads, 1);
  EXPECT_EQ(launches[1].blocks, 1);
  EXPECT_EQ(launches[1].threads, 4);
  EXPECT_TRUE(launches[0].needs_workspace && launches[1].needs_workspace);
  const std::string text = kernels(emit_opencl(lowered, entry_symbols("t")).value());
  EXPECT_THAT(text, HasSubstr("void t_kernel_0(__global const float* restrict A, __global char* workspace)"));
  EXPECT_THAT(text, HasSubstr("__global float* T = (__global float*)(workspace + 0);"));
  EXPECT_THAT(text, Not(HasSubstr("BARRIER")));
}

// 36 threads stage, 16 compute: the others do nothing then, and come to every barrier.
TEST(EmitOpenCl, SmallerNestsAreConditionsOfTheirThreads) {
  const HandTrace hand = depthwise(8, 12);
  const std::string text =
      kernels(emit_opencl(lowered_for_device(hand.dag, hand.trace), entry_symbols("t")).value());
  EXPECT_THAT(text, HasSubstr("reqd_work_group_size(36, 1, 1)"));
  EXPECT_THAT(text, HasSubstr("if (thread_2 < 9) {"));
  EXPECT_THAT(text, HasSubstr("  LATHE_BARRIER_SHARED();\n"));
}

TEST(EmitOpenCl, TablesAreConstants) {
  const std::string text =
      emit_opencl(lowered_for_device("table T[2] = {1.5, -2}\nC[i:2] = T[i] * A[i]\n", "bind C i thread\n"),
                  entry_symbols("t"))
          .value();
  EXPECT_THAT(text, HasSubstr("__constant float table_T[2] = {0x1.8p+0f, (-2.0f)};"));
}

TEST(EmitOpenCl, WordsOfTheLanguageAreNoNames) {
  const std::string text =
      kernels(emit_opencl(lowered_for_device("kernel[float4:3] = half[float4] * uint[float4]\n",
                                             "bind kernel float4 thread\n"),
                          entry_symbols("t"))
                  .value());
  for (const char* parameter :
       {"const float* restrict half_2", "const float* restrict uint_2", "float* restrict kernel_2"})
    EXPECT_THAT(text, HasSubstr(parameter));
}

TEST(EmitOpenCl, SchedulesOfAnotherKindOfTargetAreRefused) {
  const Task task = task_of("C[i:8] = A[i] * 2.0");
  EXPECT_EQ(compile_program(scheduled(task, "parallel C i\n"), generic_target("opencl")).error().message,
            "loop 'i' is shared out among the threads of a processor, which the target does not have");
  EXPECT_EQ(compile_program(scheduled(task, "bind C i block\n"), generic_target("x86-avx2")).error().message,
            "loop 'i' is one of blocks of threads, which the target does not have");
  EXPECT_EQ(compile_program(scheduled(task, "bind C i thread\n"), generic_target("x86-avx2")).error().message,
            "loop 'i' is one of a block's threads, which the target does not have");
}

TEST(EmitOpenCl, ModulesSayWhatIsLaunched) {
  const HandTrace hand = staged_product(33, 70, 17);
  const Module module =
      compile_program(scheduled(task_of(hand.dag), hand.trace), generic_target("opencl")).value();
  EXPECT_EQ(module.form, "opencl");
  ASSERT_EQ(module.kernels.size(), 1u);
  EXPECT_EQ(module.kernels[0].blocks, 2 * 3);
  EXPECT_EQ(module.kernels[0].threads, 64);
  EXPECT_TRUE(module.prepare_kernels.empty());
  EXPECT_EQ(without_barrier(module.object, 5), module.object);
  EXPECT_LT(without_barrier(module.object, 1).size(), module.object.size());
}

}  // namespace
}  // namespace lathe::testing
