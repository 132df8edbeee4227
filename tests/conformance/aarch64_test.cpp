// Programs for 64-bit Arm processors, compiled here and run under an emulator, compute what the interpreter
// does. Where the emulator or the cross compiler is missing they are compiled alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "check/tolerance.h"
#include "codegen/emulated.h"
#include "conformance/trace_checker.h"
#include "lower/lower.h"
#include "ops/all.h"
#include "schedule/apply.h"
#include "space/all.h"
#include "target/all.h"

namespace lathe::testing {
namespace {

// Of each operator the first of its little cases.
std::vector<SmallCase> one_of_each() {
  std::vector<SmallCase> cases;
  for (const std::span<const SmallCase> some : {small_cases(), other_small_cases()}) {
    for (const SmallCase& small : some) {
      const auto is_it = [&](const SmallCase& known) { return std::string_view(known.op) == small.op; };
      if (std::ranges::none_of(cases, is_it)) cases.push_back(small);
    }
  }
  return cases;
}

class AArch64 : public ::testing::TestWithParam<SmallCase> {
 protected:
  // Empty, or what is wrong with what that backend makes of the point.
  static std::string fault(const Reference& reference, const Trace& trace, Backend backend) {
    const Result<Program> program = apply_trace(reference.task, trace);
    if (!program) return program.error().to_string();
    const Result<LoweredProgram> lowered = lower(*program, reference.task.target);
    if (!lowered) return lowered.error().to_string();
    const auto got =
        run_emulated(*lowered, backend, reference.task.target, aarch64_emulation(), reference.inputs);
    if (!got) return got.error().to_string();
    return first_difference(reference.outputs, *got, relative_tolerance(reference.task.dag, trace));
  }
};

TEST_P(AArch64, ProgramsComputeWhatTheInterpreterDoes) {
  if (const std::string missing = missing_of(aarch64_emulation()); !missing.empty()) GTEST_SKIP() << missing;
  const Reference reference = make_reference(GetParam(), generic_target("aarch64-neon"), true);
  const Result<Space> space = derive_space(reference.task);
  ASSERT_TRUE(space) << space.error().to_string();
  const Trace preferred = space->trace(space->preferred_points().front()).value();
  EXPECT_EQ(fault(reference, preferred, Backend::llvm), "");
  EXPECT_EQ(fault(reference, preferred, Backend::c), "");
  Rng rng(3);
  for (const Sketch& sketch : space->sketches()) {
    const auto place = static_cast<int>(&sketch - space->sketches().data());
    const Result<Trace> trace = space->trace({place, sample(sketch.domain, rng)});
    if (!trace) continue;
    EXPECT_EQ(fault(reference, *trace, Backend::llvm), "") << to_string(*trace);
  }
}

INSTANTIATE_TEST_SUITE_P(All, AArch64, ::testing::ValuesIn(one_of_each()),
                         [](const auto& small) { return std::string(small.param.op); });

TEST(AArch64Cases, EveryOperatorIsAmongThem) {
  std::set<std::string> covered = {"expression"};
  for (const SmallCase& small : one_of_each()) covered.insert(small.op);
  for (const std::string& name : operator_names()) EXPECT_TRUE(covered.contains(name)) << name;
}

}  // namespace
}  // namespace lathe::testing
