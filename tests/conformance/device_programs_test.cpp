// Programs for devices of many threads: schedules by hand equal the naive program in the interpreter,
// scheduled and after every pass, with the threads of each nest in any order, and on the device of OpenCL
// where there is one. Oclgrind, where it is installed, finds no race in them, and one as soon as a barrier is
// taken out.
#include "codegen/device_programs.h"

#include <gmock/gmock.h>

#include <fstream>

#include "base/shell.h"
#include "base/temporary_folder.h"
#include "compile/compile.h"
#include "lower/programs.h"

namespace lathe::testing {
namespace {

using ::testing::HasSubstr;

Task device_task(const HandTrace& hand) {
  return make_task(hand.name, parse_dag(hand.dag).value(), generic_target("opencl")).value();
}

class DevicePrograms : public ::testing::TestWithParam<HandTrace> {};

TEST_P(DevicePrograms, EveryPassKeepsTheResultInAnyOrderOfThreads) {
  const Task task = device_task(GetParam());
  const std::vector<HostTensor> expected = run(naive_program(task), "naive");
  const Program program = scheduled(task, GetParam().trace);
  EXPECT_LE(difference(expected, shuffled(program, 1)), 1e-5);
  LowerOptions options;
  options.verifies = true;
  options.after_pass = [&](std::string_view pass, const Program& after, double) -> Status {
    EXPECT_LE(difference(expected, shuffled(after, 2)), 1e-5) << pass;
    return {};
  };
  const Result<LoweredProgram> lowered = lower(program, task.target, options);
  ASSERT_TRUE(lowered) << lowered.error().to_string();
  EXPECT_EQ(all<Barrier>(lowered->program.main).size(), static_cast<size_t>(GetParam().barriers));
}

TEST_P(DevicePrograms, TheDeviceComputesTheSame) {
  const Task task = device_task(GetParam());
  const Program program = scheduled(task, GetParam().trace);
  const Module module = compile_program(program, task.target).value();
  const auto outputs = run_on_device(module, program.arguments, inputs_of(program));
  if (!outputs && outputs.error().kind == ErrorKind::unsupported) GTEST_SKIP() << outputs.error().message;
  ASSERT_TRUE(outputs) << outputs.error().to_string();
  EXPECT_LE(difference(run(naive_program(task), "naive"), *outputs), 1e-5);
}

// What oclgrind says of the module's one kernel on its simulated device.
std::string races(const Module& module) {
  const TemporaryFolder folder;
  const std::string base = folder.path() / "kernel";
  std::ofstream(base + ".cl") << module.object;
  const KernelLaunch& launch = module.kernels.at(0);
  std::ofstream simulation(base + ".sim");
  simulation << base << ".cl\n"
             << launch.function << "\n"
             << launch.blocks * launch.threads << " 1 1\n"
             << launch.threads << " 1 1\n";
  for (const int buffer : launch.buffers)
    simulation << "<size=" << module.buffers[static_cast<size_t>(buffer)].bytes << " fill=0>\n";
  simulation.close();
  EXPECT_EQ(
      run_in_shell("oclgrind-kernel --data-races --max-errors 3 " + base + ".sim > " + base + ".out 2>&1"),
      0);
  std::ifstream said(base + ".out");
  return {std::istreambuf_iterator<char>(said), {}};
}

TEST_P(DevicePrograms, OclgrindFindsNoRaceButForAMissingBarrier) {
  if (run_in_shell("command -v oclgrind-kernel > /dev/null") != 0)
    GTEST_SKIP() << "oclgrind is not installed";
  const Task task = device_task(GetParam());
  Module module = compile_program(scheduled(task, GetParam().trace), task.target).value();
  EXPECT_EQ(races(module), "");
  const std::string whole = module.object;
  for (int barrier = 0; barrier < GetParam().barriers; ++barrier) {
    module.object = without_barrier(whole, barrier);
    EXPECT_THAT(races(module), HasSubstr("data race")) << "without barrier " << barrier;
  }
}

INSTANTIATE_TEST_SUITE_P(ByHand, DevicePrograms, ::testing::ValuesIn(hand_traces()),
                         [](const auto& tested) { return tested.param.name; });

// Without a thread loop anywhere a kernel runs on one thread.
TEST(DevicePrograms, AnyProgramRunsOnOneThread) {
  for (const char* text :
       {"C[i:7, j:5] = sum(k:6) A[i,k] * B[k,j]\n", "B[i:9] = exp(A[i])\nC[i:9] = B[i] + B[8 - i]\n",
        "C[i:6] = i8(A[i] * 3.5)\n", "C[i:4] = select(i < 2, A[i], 1.0 / A[i])\n"}) {
    const Result<Dag> dag = parse_dag(text);
    ASSERT_TRUE(dag) << dag.error().to_string();
    const Task task = make_task("naive", *dag, generic_target("opencl")).value();
    const Program program = naive_program(task);
    const Result<Module> module = compile_program(program, task.target);
    ASSERT_TRUE(module) << module.error().to_string();
    const auto outputs = run_on_device(*module, program.arguments, inputs_of(program));
    if (!outputs && outputs.error().kind == ErrorKind::unsupported) GTEST_SKIP() << outputs.error().message;
    ASSERT_TRUE(outputs) << outputs.error().to_string();
    EXPECT_LE(difference(run(program, "naive"), *outputs), 1e-5) << text;
  }
}

}  // namespace
}  // namespace lathe::testing
