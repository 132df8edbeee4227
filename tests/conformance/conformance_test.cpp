// Interpreter and machine code agree: for every case of the zoo, every backend computes what the interpreter
// makes of the naive program. A backend that cannot do a case lists it here with the reason; none does.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "codegen/machine.h"
#include "conformance/zoo.h"
#include "expr/parse.h"
#include "loop/interpret.h"
#include "schedule/apply.h"
#include "target/all.h"
#include "target/detect.h"

namespace lathe::testing {
namespace {

using Case = std::tuple<ZooCase, Backend, int>;

class Conformance : public ::testing::TestWithParam<Case> {};

std::vector<HostTensor> inputs_of(const Program& program) {
  Rng rng(11);
  std::vector<HostTensor> inputs;
  for (const Argument& argument : program.arguments) {
    if (!argument.is_output) inputs.push_back(random_like(argument.tensor, rng));
  }
  return inputs;
}

void expect_close(const HostTensor& expected, const HostTensor& got) {
  ASSERT_EQ(expected.shape, got.shape);
  double largest = 1e-30;
  for (double value : expected.values) largest = std::max(largest, std::abs(value));
  for (size_t i = 0; i < expected.values.size(); ++i) {
    ASSERT_LE(std::abs(expected.values[i] - got.values[i]), 2e-6 * largest)
        << "at " << i << " of " << got.values.size();
    ASSERT_FALSE(std::isnan(got.values[i])) << "at " << i;
  }
}

TEST_P(Conformance, MachineCodeComputesWhatTheInterpreterDoes) {
  const auto& [zoo_case, backend, threads] = GetParam();
  const Result<Dag> dag = parse_dag(zoo_case.dag);
  ASSERT_TRUE(dag) << dag.error().to_string();
  const Result<Task> task =
      make_task(zoo_case.name, *dag, with_cores(detect_target().value(), std::max(threads, 1)),
                {zoo_case.constants.begin(), zoo_case.constants.end()}, zoo_case.free_layouts);
  ASSERT_TRUE(task) << task.error().to_string();
  const Result<Trace> trace = parse_trace(zoo_case.trace);
  ASSERT_TRUE(trace) << trace.error().to_string();
  const Result<Program> program = apply_trace(*task, *trace);
  ASSERT_TRUE(program) << program.error().to_string();
  const Result<LoweredProgram> lowered = lower(*program, task->target);
  ASSERT_TRUE(lowered) << lowered.error().to_string();

  const std::vector<HostTensor> inputs = inputs_of(*program);
  const Result<Interpretation> expected = interpret(naive_program(*task), inputs);
  ASSERT_TRUE(expected) << expected.error().to_string();
  const Result<std::vector<HostTensor>> got = run_machine(*lowered, backend, inputs, threads);
  ASSERT_TRUE(got) << got.error().to_string();
  ASSERT_EQ(got->size(), expected->outputs.size());
  for (size_t i = 0; i < got->size(); ++i) expect_close(expected->outputs[i], (*got)[i]);
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const ZooCase& zoo_case : zoo()) {
    cases.emplace_back(zoo_case, Backend::llvm, 0);
    cases.emplace_back(zoo_case, Backend::llvm, 3);
    cases.emplace_back(zoo_case, Backend::c, 2);
  }
  return cases;
}

std::string case_name(const ::testing::TestParamInfo<Case>& info) {
  const auto& [zoo_case, backend, threads] = info.param;
  return fmt::format("{}_{}_{}", zoo_case.name, to_string(backend), threads);
}

INSTANTIATE_TEST_SUITE_P(Zoo, Conformance, ::testing::ValuesIn(all_cases()), case_name);

}  // namespace
}  // namespace lathe::testing
