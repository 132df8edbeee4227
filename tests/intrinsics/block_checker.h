// An intrinsic's block in every form: the formula, the tensorized loop, the call and machine code by each
// backend.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "codegen/machine.h"
#include "intrinsics/intrinsic.h"
#include "loop/interpret.h"
#include "loop/print.h"
#include "lower/lower.h"
#include "schedule/apply.h"
#include "target/all.h"
#include "target/detect.h"

namespace lathe::testing {

// All numbers of factors that matter, each beside each: the ends of the types, 0, -1, 1.
struct FactorValues {
  std::vector<double> a;
  std::vector<double> b;
};

// This machine, or where it does not have the instruction a typical one that does.
inline Target machine_with(const Intrinsic& intrinsic) {
  Target here = detect_target().value();
  if (has_intrinsic(here, intrinsic)) return here;
  return with_extensions(generic_target("x86-avx512"), {"avx512_vnni", "avx512_bf16"});
}

// The outputs of the block in so many lanes, checked to be the same, to `tolerance`, in all forms that this
// machine runs: those that are interpreted, on one without the instruction. `rounds`: terms, of `values` in
// turn, that are added up one group after another.
inline std::vector<double> run_block(const Intrinsic& intrinsic, const Target& target, int lanes, int rounds,
                                     const FactorValues& values, double tolerance = 0) {
  const int group = intrinsic.group;
  DagBuilder builder;
  const Tensor a = builder.input("A", {rounds * group}, intrinsic.a);
  const Tensor b = builder.input("B", {rounds, lanes, group}, intrinsic.b);
  const Axis l = spatial("l", lanes);
  const Axis r = reduce("r", rounds);
  const Axis t = reduce("t", group);
  const Type type{intrinsic.result, 1};
  builder.compute("C", {l}, sum({r, t}, cast(type, a(Expr(r) * group + Expr(t))) * cast(type, b(r, l, t))));
  const Task task = make_task("block", builder.build().value(), target).value();
  std::vector<HostTensor> inputs{{intrinsic.a, a->shape, {}}, {intrinsic.b, b->shape, {}}};
  for (int64_t i = 0; i < a.elements(); ++i)
    inputs[0].values.push_back(values.a[static_cast<size_t>(i) % values.a.size()]);
  for (int64_t i = 0; i < b.elements(); ++i)
    inputs[1].values.push_back(values.b[static_cast<size_t>(i * 7 / 3) % values.b.size()]);
  const std::vector<double> expected = interpret(naive_program(task), inputs).value().outputs.at(0).values;
  const auto compare = [&](const char* form, const std::vector<double>& got) {
    EXPECT_EQ(got.size(), expected.size()) << form;
    for (size_t i = 0; i < std::min(got.size(), expected.size()); ++i)
      EXPECT_NEAR(got[i], expected[i], tolerance) << form << ", lane " << i;
  };
  const Trace trace =
      parse_trace("reorder C r l t\nvectorize C l\ntensorize C t intrinsic=" + std::string(intrinsic.name))
          .value();
  const Program program = apply_trace(task, trace).value();
  compare("scheduled", interpret(program, inputs).value().outputs.at(0).values);
  const LoweredProgram lowered = lower(program, target).value();
  EXPECT_NE(to_string(lowered.program).find("call(" + std::string(intrinsic.name)), std::string::npos)
      << to_string(lowered.program);
  compare("lowered", interpret(lowered.program, inputs).value().outputs.at(0).values);
  if (!check_runs_here(target)) return expected;
  compare("C", run_machine(lowered, Backend::c, inputs).value().at(0).values);
  compare("LLVM", run_machine(lowered, Backend::llvm, inputs).value().at(0).values);
  return expected;
}

}  // namespace lathe::testing
