#include "conformance/trace_checker.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "check/tolerance.h"
#include "codegen/machine.h"
#include "compile/compile.h"
#include "expr/index_limit.h"
#include "loop/interpret.h"
#include "loop/verify.h"
#include "lower/lower.h"
#include "ops/all.h"
#include "schedule/apply.h"
#include "target/all.h"
#include "target/detect.h"

namespace lathe::testing {
namespace {

constexpr SmallCase kCases[] = {
    {"matmul", R"({"batch": 1, "m": 13, "n": 19, "k": 11})"},
    {"matmul", R"({"batch": 1, "m": 1, "n": 37, "k": 5})"},
    {"matmul", R"({"batch": 2, "m": 7, "n": 17, "k": 3})"},
    {"matmul", R"({"batch": 1, "m": 23, "n": 1, "k": 16})"},
    {"conv2d_bn_relu",
     R"({"batch": 1, "height": 7, "width": 5, "in_channels": 3, "out_channels": 7, "kernel": 3, "stride": 1, "padding": 1})"},
    {"conv2d_bn_relu",
     R"({"batch": 2, "height": 9, "width": 7, "in_channels": 2, "out_channels": 17, "kernel": 3, "stride": 2, "padding": 1})"},
    {"conv2d_bn_relu",
     R"({"batch": 1, "height": 5, "width": 11, "in_channels": 5, "out_channels": 3, "kernel": 1, "stride": 1, "padding": 0})"},
    {"conv2d_bn_relu",
     R"({"batch": 1, "height": 8, "width": 8, "in_channels": 4, "out_channels": 6, "kernel": 3, "stride": 1, "padding": 2, "dilation": 2, "groups": 2})"},
    {"conv2d_bn_relu",
     R"({"batch": 1, "height": 6, "width": 7, "in_channels": 18, "out_channels": 34, "kernel": 3, "stride": 1, "padding": 1})"},
    {"depthwise_conv2d",
     R"({"batch": 1, "height": 7, "width": 11, "channels": 5, "kernel": 3, "stride": 1, "padding": 1})"},
    {"depthwise_conv2d",
     R"({"batch": 2, "height": 9, "width": 5, "channels": 11, "kernel": 3, "stride": 2, "padding": 1})"},
    {"transpose_batch_matmul_softmax", R"({"batch": 1, "sequence": 7, "heads": 2, "head_dim": 5})"},
    {"transpose_batch_matmul_softmax", R"({"batch": 2, "sequence": 11, "heads": 1, "head_dim": 3})"},
    {"conv2d_transpose",
     R"({"batch": 1, "height": 4, "width": 3, "in_channels": 5, "out_channels": 3, "kernel": 4, "stride": 2, "padding": 1})"},
    {"conv2d_transpose",
     R"({"batch": 2, "height": 3, "width": 3, "in_channels": 3, "out_channels": 11, "kernel": 3, "stride": 2, "padding": 1})"},
    {"conv1d_transpose",
     R"({"batch": 1, "length": 7, "in_channels": 3, "out_channels": 5, "kernel": 3, "stride": 1, "padding": 1})"},
    {"conv1d",
     R"({"batch": 1, "length": 13, "in_channels": 3, "out_channels": 5, "kernel": 3, "stride": 2, "padding": 1})"},
    {"frobenius_norm", R"({"batch": 2, "m": 7, "n": 13})"},
};
constexpr SmallCase kOthers[] = {
    {"gemv", R"({"m": 37, "k": 19})"},
    {"bilinear", R"({"batch": 1, "out_features": 11, "in1_features": 7, "in2_features": 5})"},
    {"bilinear", R"({"batch": 3, "out_features": 5, "in1_features": 13, "in2_features": 3})"},
    {"conv1d",
     R"({"batch": 3, "length": 11, "in_channels": 6, "out_channels": 10, "kernel": 3, "stride": 1, "padding": 2, "dilation": 2, "groups": 2})"},
    {"conv2d",
     R"({"batch": 3, "height": 5, "width": 8, "in_channels": 3, "out_channels": 7, "kernel": 2, "stride": 2, "padding": 0})"},
    {"conv3d",
     R"({"batch": 1, "depth": 5, "height": 4, "width": 7, "in_channels": 3, "out_channels": 5, "kernel": 3, "stride": 1, "padding": 1})"},
    {"conv3d",
     R"({"batch": 3, "depth": 4, "height": 5, "width": 3, "in_channels": 2, "out_channels": 4, "kernel": 2, "stride": 2, "padding": 1})"},
    {"conv1d_transpose",
     R"({"batch": 3, "length": 5, "in_channels": 4, "out_channels": 3, "kernel": 4, "stride": 2, "padding": 1})"},
    {"conv3d_transpose",
     R"({"batch": 1, "depth": 3, "height": 2, "width": 4, "in_channels": 3, "out_channels": 5, "kernel": 3, "stride": 1, "padding": 1})"},
    {"conv3d_transpose",
     R"({"batch": 3, "depth": 2, "height": 3, "width": 2, "in_channels": 2, "out_channels": 3, "kernel": 3, "stride": 2, "padding": 1})"},
    {"depthwise_conv2d",
     R"({"batch": 3, "height": 6, "width": 5, "channels": 7, "multiplier": 3, "kernel": 3, "stride": 2, "padding": 0})"},
    {"conv2d_winograd",
     R"({"batch": 1, "height": 7, "width": 9, "in_channels": 3, "out_channels": 5, "kernel": 3, "stride": 1, "padding": 1})"},
    {"conv2d_winograd",
     R"({"batch": 3, "height": 6, "width": 5, "in_channels": 5, "out_channels": 3, "kernel": 3, "stride": 1, "padding": 0})"},
    {"capsule_conv2d",
     R"({"batch": 1, "height": 4, "width": 5, "in_channels": 3, "out_channels": 2, "kernel": 3, "stride": 2, "padding": 1, "capsule": 4})"},
    {"capsule_conv2d",
     R"({"batch": 3, "height": 3, "width": 3, "in_channels": 2, "out_channels": 3, "kernel": 2, "stride": 1, "padding": 0, "capsule": 3})"},
    {"frobenius_norm", R"({"batch": 3, "m": 5, "n": 11})"},
    {"conv2d_bn_relu",
     R"({"batch": 3, "height": 7, "width": 5, "in_channels": 6, "out_channels": 9, "kernel": 3, "stride": 2, "padding": 1, "groups": 3})"},
    {"transpose_batch_matmul_softmax", R"({"batch": 3, "sequence": 5, "heads": 2, "head_dim": 7})"},
    {"block_circulant_matrix", R"({"rows": 12, "cols": 19, "block": 4})"},
    {"block_circulant_matrix", R"({"rows": 17, "cols": 21, "block": 3})"},
    {"shift_conv2d", R"({"batch": 1, "height": 7, "width": 5, "channels": 11, "kernel": 3})"},
    {"shift_conv2d", R"({"batch": 3, "height": 5, "width": 6, "channels": 7, "kernel": 3, "dilation": 2})"},
};
// More is an Error of lowering: it keeps the time of LLVM within bounds.
constexpr int64_t kMaxStatements = 3000;

}  // namespace

std::span<const SmallCase> small_cases() { return kCases; }
std::span<const SmallCase> other_small_cases() { return kOthers; }

std::string first_difference(const std::vector<HostTensor>& expected, const std::vector<HostTensor>& got,
                             double tolerance) {
  for (size_t t = 0; t < expected.size(); ++t) {
    double largest = 1e-30;
    for (const double value : expected[t].values) largest = std::max(largest, std::abs(value));
    for (size_t i = 0; i < expected[t].values.size(); ++i) {
      const double difference = std::abs(expected[t].values[i] - got[t].values[i]);
      if (difference <= tolerance * largest) continue;
      return fmt::format("element {} of output {} is {} instead of {}", i, t, got[t].values[i],
                         expected[t].values[i]);
    }
  }
  return "";
}

Reference make_reference(Task task) {
  Reference reference{std::move(task), {}, {}};
  Rng rng(5);
  const std::vector<Interval> indices = index_values(reference.task.dag);
  for (const Tensor& input : reference.task.dag.inputs) {
    reference.inputs.push_back(random_within(input, rng, indices[reference.inputs.size()]));
  }
  const Result<Interpretation> naive = interpret(naive_program(reference.task), reference.inputs);
  EXPECT_TRUE(naive) << naive.error().to_string();
  reference.outputs = naive->outputs;
  return reference;
}

Reference make_reference(const SmallCase& small, const Target& target, bool free_layouts) {
  const Result<Operator> operation = make_operator(small.op, nlohmann::json::parse(small.parameters));
  EXPECT_TRUE(operation) << operation.error().to_string();
  Result<Task> task = make_task(small.op, operation->dag, target, operation->constants, free_layouts);
  EXPECT_TRUE(task) << task.error().to_string();
  return make_reference(std::move(*task));
}

std::vector<Reference> references(std::span<const SmallCase> cases) {
  std::vector<Reference> all;
  for (const SmallCase& small : cases) {
    for (const char* target : {"x86-avx2", "x86-avx512"}) {
      for (int variant = 0; variant < 3; ++variant) {
        all.push_back(
            make_reference(small, with_cores(generic_target(target), variant == 1 ? 2 : 1), variant == 2));
      }
    }
  }
  return all;
}

std::string TraceChecker::check(const Reference& reference, const Trace& trace, Rng& rng) {
  ++counts.traces;
  counts.steps += static_cast<int>(trace.size());
  const Result<Trace> read_back = parse_trace(to_string(trace));
  if (!read_back) return "reading the trace: " + read_back.error().to_string();
  const Result<Program> program = apply_trace(reference.task, *read_back);
  if (!program) return "replaying: " + program.error().to_string();
  if (const Status sound = verify(*program); !sound) return "verifier: " + sound.error().to_string();
  const double tolerance = relative_tolerance(reference.task.dag, trace);
  const Result<Interpretation> before = interpret(*program, reference.inputs, {.shuffle = &rng});
  if (!before) return "interpreter before lowering: " + before.error().to_string();
  std::string wrong = first_difference(reference.outputs, before->outputs, tolerance);
  if (!wrong.empty()) return "before lowering: " + wrong;
  const Result<LoweredProgram> lowered =
      lower(*program, reference.task.target,
            {.stop_after = {}, .max_statements = kMaxStatements, .after_pass = {}});
  if (!lowered) return refuse(lowered.error());
  return check_lowered(reference, *program, *lowered, tolerance, rng);
}

// The errors that lowering may make of a legal schedule.
std::string TraceChecker::refuse(const Error& error) {
  for (const char* reason : {"tail pad on ", "the unrolled program has more than "}) {
    if (!error.message.starts_with(reason)) continue;
    ++counts.refused[reason];
    return "";
  }
  return "lowering: " + error.to_string();
}

std::string TraceChecker::check_lowered(const Reference& reference, const Program& program,
                                        const LoweredProgram& lowered, double tolerance, Rng& rng) {
  if (const Status sound = verify(lowered.program); !sound) {
    return "verifier after lowering: " + sound.error().to_string();
  }
  const Result<Interpretation> after = interpret(lowered.program, reference.inputs, {.shuffle = &rng});
  if (!after) return "interpreter after lowering: " + after.error().to_string();
  std::string wrong = first_difference(reference.outputs, after->outputs, tolerance);
  if (!wrong.empty()) return "after lowering: " + wrong;
  ++counts.compared;
  if (!check_runs_here(reference.task.target)) return "";
  ++counts.machine;
  const Result<Module> module = compile_program(
      program, reference.task.target, {.symbol_prefix = "random", .max_statements = kMaxStatements});
  wrong = check_module("machine code", module, reference, lowered.program, tolerance);
  if (!wrong.empty() || c_interval_ == 0 || counts.machine % c_interval_ != 0) return wrong;
  ++counts.c;
  return check_module("C", build(lowered, Backend::c, cores_of(reference.task.target)), reference,
                      lowered.program, tolerance);
}

std::string TraceChecker::check_module(const char* what, const Result<Module>& module,
                                       const Reference& reference, const Program& lowered, double tolerance) {
  if (!module) return fmt::format("{}: compiling: {}", what, module.error().to_string());
  const auto got = run_module(*module, lowered.arguments, reference.inputs,
                              cores_of(reference.task.target) > 1 ? pool_.parallel() : nullptr);
  if (!got) return fmt::format("{}: {}", what, got.error().to_string());
  const std::string wrong = first_difference(reference.outputs, *got, tolerance);
  return wrong.empty() ? "" : fmt::format("{}: {}", what, wrong);
}

Trace shrink(const Reference& reference, Trace trace, bool through_c) {
  TraceChecker checker(through_c ? 1 : 0);
  for (size_t i = trace.size(); i-- > 0;) {
    Trace shorter = trace;
    shorter.erase(shorter.begin() + static_cast<std::ptrdiff_t>(i));
    Rng rng(1);
    if (apply_trace(reference.task, shorter) && !checker.check(reference, shorter, rng).empty()) {
      trace = std::move(shorter);
    }
  }
  return trace;
}

}  // namespace lathe::testing
