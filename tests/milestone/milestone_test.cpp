// The first milestone: for each kind of program a schedule by hand, and the naive program, the scheduled and
// the lowered one (interpreted), the machine code and the C backend agree on small, awkward shapes.
#include <gtest/gtest.h>

#include <cmath>

#include "codegen/machine.h"
#include "expr/parse.h"
#include "loop/interpret.h"
#include "loop/print.h"
#include "milestone/traces.h"
#include "ops/workloads.h"
#include "schedule/apply.h"
#include "target/detect.h"

namespace lathe::testing {
namespace {

using milestone::RegisterTile;

struct MilestoneCase {
  const char* name;
  std::string_view dag;  // as text; empty: `workload`
  const char* workload;
  std::initializer_list<const char*> constants;
  std::string (*trace)(const RegisterTile& tile);
  double tolerance = 2e-6;  // of the largest value
};

void PrintTo(const MilestoneCase& milestone_case, std::ostream* stream) { *stream << milestone_case.name; }

class Milestone : public ::testing::TestWithParam<MilestoneCase> {};

Result<Task> task_of(const MilestoneCase& c) {
  const Target target = with_cores(detect_target().value(), 1);
  if (!c.dag.empty()) {
    LATHE_TRY(Dag dag, parse_dag(c.dag));
    return make_task(c.name, std::move(dag), target, {c.constants.begin(), c.constants.end()}, true);
  }
  LATHE_TRY(const std::vector<Workload> workloads, parse_workloads(c.workload, c.name));
  return make_task(workloads.front(), target, true);
}

void expect_close(const std::vector<HostTensor>& expected, const std::vector<HostTensor>& got,
                  double tolerance, const std::string& what) {
  ASSERT_EQ(expected.size(), got.size()) << what;
  for (size_t i = 0; i < expected.size(); ++i) {
    double largest = 1e-30;
    for (double value : expected[i].values) largest = std::max(largest, std::abs(value));
    for (size_t k = 0; k < expected[i].values.size(); ++k) {
      // The comparison is false for NaN.
      ASSERT_TRUE(std::abs(expected[i].values[k] - got[i].values[k]) <= tolerance * largest)
          << what << " at " << k << ": " << got[i].values[k] << ", not " << expected[i].values[k];
    }
  }
}

TEST_P(Milestone, EveryFormComputesTheSame) {
  const MilestoneCase& c = GetParam();
  const Result<Task> task = task_of(c);
  ASSERT_TRUE(task) << task.error().to_string();
  const RegisterTile tile = milestone::register_tile(task->target.cpu().lanes(4));
  const Result<Trace> trace = parse_trace(c.trace(tile));
  ASSERT_TRUE(trace) << trace.error().to_string();
  const Result<Program> program = apply_trace(*task, *trace);
  ASSERT_TRUE(program) << program.error().to_string();
  Rng rng(5);
  std::vector<HostTensor> inputs;
  for (const Argument& argument : task->arguments) {
    if (!argument.is_output) inputs.push_back(random_like(argument.tensor, rng));
  }
  const Result<Interpretation> naive = interpret(naive_program(*task), inputs);
  ASSERT_TRUE(naive) << naive.error().to_string();
  const Result<Interpretation> scheduled = interpret(*program, inputs);
  ASSERT_TRUE(scheduled) << scheduled.error().to_string();
  expect_close(naive->outputs, scheduled->outputs, c.tolerance, "scheduled");
  const Result<LoweredProgram> lowered = lower(*program, task->target);
  ASSERT_TRUE(lowered) << lowered.error().to_string();
  const Result<Interpretation> low = interpret(lowered->program, inputs);
  ASSERT_TRUE(low) << low.error().to_string();
  expect_close(naive->outputs, low->outputs, c.tolerance, "lowered");
  for (const Backend backend : {Backend::llvm, Backend::c}) {
    const Result<std::vector<HostTensor>> got = run_machine(*lowered, backend, inputs);
    ASSERT_TRUE(got) << to_string(backend) << ": " << got.error().to_string();
    expect_close(naive->outputs, *got, c.tolerance, to_string(backend));
  }
}

constexpr MilestoneCase kCases[] = {
    {"matmul_with_tails",
     "C[i:50, j:37] = sum(r:45) A[i, r] * B[r, j]",
     "",
     {"B"},
     [](const RegisterTile& tile) { return milestone::matmul(tile, 2, 16); }},
    {"matmul",
     "C[i:48, j:64] = sum(r:32) A[i, r] * B[r, j]",
     "",
     {"B"},
     [](const RegisterTile& tile) { return milestone::matmul(tile, 2, 32); }},
    {"matmul_in_place",
     "C[i:50, j:37] = sum(r:45) A[i, r] * B[r, j]",
     "",
     {"B"},
     [](const RegisterTile& tile) { return milestone::matmul_in_place(tile, 3, 4); }},
    {"direct_convolution",
     "",
     R"([{"name":"c", "op":"conv2d", "batch":1, "height":7, "width":9, "in_channels":11,
            "out_channels":20, "kernel":3, "stride":1, "padding":1}])",
     {},
     [](const RegisterTile& tile) { return milestone::direct_convolution(tile, false); }},
    {"direct_convolution_with_epilogue",
     "",
     R"([{"name":"c", "op":"conv2d_bn_relu", "batch":2, "height":7, "width":9, "in_channels":5,
            "out_channels":20, "kernel":3, "stride":1, "padding":1}])",
     {},
     [](const RegisterTile& tile) { return milestone::direct_convolution(tile, true); }},
    {"winograd",
     "",
     R"([{"name":"c", "op":"conv2d_winograd", "batch":1, "height":8, "width":12, "in_channels":8,
            "out_channels":16, "kernel":3, "stride":1, "padding":1}])",
     {},
     [](const RegisterTile& tile) { return milestone::winograd_convolution(tile, 4, 2); },
     1e-5},
    {"winograd_with_tails",
     "",
     R"([{"name":"c", "op":"conv2d_winograd", "batch":2, "height":7, "width":9, "in_channels":5,
            "out_channels":11, "kernel":3, "stride":1, "padding":1}])",
     {},
     [](const RegisterTile& tile) { return milestone::winograd_convolution(tile, 5, 3); },
     1e-5},
    {"depthwise_with_relu",
     R"(I.pad[n:1, c:19, y:9, x:13] = select(1 <= y && y < 8 && 1 <= x && x < 12, I[n, c, y - 1, x - 1], 0.0)
O.conv[n:1, f:19, y:7, x:11] = sum(ky:3, kx:3) I.pad[n, f, y + ky, x + kx] * W[f, 0, ky, kx]
O[n:1, f:19, y:7, x:11] = max(O.conv[n, f, y, x], 0.0))",
     "",
     {"W"},
     [](const RegisterTile& tile) { return milestone::depthwise(tile, 2, true); }},
    {"batched_matmul_softmax",
     "",
     R"([{"name":"c", "op":"transpose_batch_matmul_softmax", "batch":2, "sequence":26, "heads":3,
            "head_dim":10}])",
     {},
     [](const RegisterTile& tile) { return milestone::batched_matmul_softmax(tile); }},
    {"transposed_by_phases",
     "",
     R"([{"name":"c", "op":"conv2d_transpose", "batch":1, "height":9, "width":11, "in_channels":5,
            "out_channels":4, "kernel":4, "stride":2, "padding":1}])",
     {},
     [](const RegisterTile& tile) { return milestone::transposed_by_phases(tile, 3, 2); }},
};

INSTANTIATE_TEST_SUITE_P(ByHand, Milestone, ::testing::ValuesIn(kCases),
                         [](const auto& param_info) { return std::string(param_info.param.name); });

}  // namespace
}  // namespace lathe::testing
