// The plug-ins of bench/peers: each operator that they have, at small odd sizes, against the naive
// interpreter.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "check/tolerance.h"
#include "folders.h"
#include "loop/interpret.h"
#include "ops/workloads.h"
#include "peers/peer.h"
#include "target/detect.h"

namespace lathe::testing {
namespace {

constexpr const char* kCases = R"([
  {"name": "matmul", "op": "matmul", "batch": 1, "m": 17, "n": 23, "k": 31},
  {"name": "matmul.one", "op": "matmul", "batch": 1, "m": 1, "n": 5, "k": 1},
  {"name": "matmul.batch", "op": "matmul", "batch": 3, "m": 7, "n": 9, "k": 11},
  {"name": "gemv", "op": "gemv", "m": 29, "k": 37},
  {"name": "conv1d", "op": "conv1d", "batch": 2, "length": 19, "in_channels": 3, "out_channels": 5, "kernel": 4,
   "stride": 3, "padding": 2},
  {"name": "conv1d.groups", "op": "conv1d", "batch": 1, "length": 16, "in_channels": 6, "out_channels": 9,
   "kernel": 3, "stride": 1, "padding": 1, "dilation": 2, "groups": 3},
  {"name": "conv2d", "op": "conv2d", "batch": 2, "height": 11, "width": 7, "in_channels": 3, "out_channels": 5,
   "kernel": 3, "stride": 2, "padding": 1},
  {"name": "conv2d.dilated", "op": "conv2d", "batch": 1, "height": 13, "width": 12, "in_channels": 4,
   "out_channels": 6, "kernel": 3, "stride": 1, "padding": 3, "dilation": 3},
  {"name": "conv2d.groups", "op": "conv2d", "batch": 1, "height": 9, "width": 8, "in_channels": 6,
   "out_channels": 10, "kernel": 3, "stride": 1, "padding": 1, "groups": 2},
  {"name": "conv3d", "op": "conv3d", "batch": 1, "depth": 5, "height": 7, "width": 6, "in_channels": 2,
   "out_channels": 3, "kernel": 3, "stride": 2, "padding": 1},
  {"name": "winograd", "op": "conv2d_winograd", "batch": 1, "height": 15, "width": 13, "in_channels": 16,
   "out_channels": 32, "kernel": 3, "stride": 1, "padding": 1},
  {"name": "bn_relu", "op": "conv2d_bn_relu", "batch": 1, "height": 10, "width": 9, "in_channels": 5,
   "out_channels": 7, "kernel": 3, "stride": 2, "padding": 1},
  {"name": "bn_relu.wide", "op": "conv2d_bn_relu", "batch": 1, "height": 14, "width": 14, "in_channels": 32,
   "out_channels": 16, "kernel": 3, "stride": 1, "padding": 1},
  {"name": "bn_relu.groups", "op": "conv2d_bn_relu", "batch": 1, "height": 8, "width": 8, "in_channels": 4,
   "out_channels": 8, "kernel": 1, "stride": 1, "padding": 0, "groups": 2},
  {"name": "depthwise", "op": "depthwise_conv2d", "batch": 2, "height": 9, "width": 10, "channels": 7, "kernel": 3,
   "stride": 2, "padding": 1},
  {"name": "depthwise.multiplier", "op": "depthwise_conv2d", "batch": 1, "height": 9, "width": 10, "channels": 5,
   "kernel": 3, "stride": 1, "padding": 1, "multiplier": 3},
  {"name": "depthwise.one", "op": "depthwise_conv2d", "batch": 1, "height": 6, "width": 5, "channels": 1,
   "kernel": 3, "stride": 1, "padding": 1, "multiplier": 4},
  {"name": "transpose1d", "op": "conv1d_transpose", "batch": 2, "length": 9, "in_channels": 3, "out_channels": 5,
   "kernel": 4, "stride": 2, "padding": 1},
  {"name": "transpose2d", "op": "conv2d_transpose", "batch": 1, "height": 5, "width": 6, "in_channels": 7,
   "out_channels": 4, "kernel": 3, "stride": 2, "padding": 1},
  {"name": "transpose3d", "op": "conv3d_transpose", "batch": 1, "depth": 3, "height": 4, "width": 5,
   "in_channels": 2, "out_channels": 3, "kernel": 3, "stride": 2, "padding": 1},
  {"name": "norm", "op": "frobenius_norm", "batch": 2, "m": 5, "n": 7}
])";

// A case with inputs and what the interpreter makes of them.
struct PeerCheck {
  Workload workload;
  std::vector<std::vector<float>> inputs;
  std::vector<double> expected;
};

PeerCheck check_of(const Workload& workload) {
  const Result<Task> task = make_task(workload, with_cores(detect_target().value(), 1), false);
  EXPECT_TRUE(task.has_value()) << task.error().to_string();
  Rng rng(7);
  std::vector<HostTensor> inputs;
  PeerCheck check{workload, {}, {}};
  for (const Tensor& input : task->dag.inputs) {
    const std::vector<double>& values = inputs.emplace_back(random_like(input, rng)).values;
    check.inputs.emplace_back(values.begin(), values.end());
  }
  const Result<Interpretation> run = interpret(naive_program(*task), inputs);
  EXPECT_TRUE(run.has_value()) << run.error().to_string();
  check.expected = run->outputs.front().values;
  return check;
}

std::vector<PeerCheck> all_checks() {
  const Result<std::vector<Workload>> workloads = parse_workloads(kCases, "cases");
  EXPECT_TRUE(workloads.has_value()) << workloads.error().to_string();
  std::vector<PeerCheck> checks;
  for (const Workload& workload : *workloads) checks.push_back(check_of(workload));
  return checks;
}

// The largest difference, as a share of the largest magnitude.
double difference(std::span<const float> got, std::span<const double> expected) {
  double largest = 0;
  double worst = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::abs(expected[i]));
    const double off = std::abs(got[i] - expected[i]);
    worst = std::isnan(off) ? INFINITY : std::max(worst, off);
  }
  return worst / largest;
}

// The names of the cases that a form has, each of them right.
std::set<std::string> right_cases(const Peer& peer, size_t form, const std::vector<PeerCheck>& checks) {
  std::set<std::string> names;
  for (const PeerCheck& check : checks) {
    const std::vector<std::span<const float>> inputs(check.inputs.begin(), check.inputs.end());
    Result<PeerCase> opened = peer.open(form, check.workload.entry, 1, inputs);
    if (!opened && opened.error().kind == ErrorKind::unsupported) continue;
    const std::string label = peer.forms()[form].name + " of " + check.workload.name;
    EXPECT_TRUE(opened.has_value()) << label << ": " << opened.error().to_string();
    if (!opened) continue;
    std::vector<float> output(check.expected.size(), NAN);
    for (int run = 0; run < 2; ++run) EXPECT_TRUE(opened->run().has_value()) << label;
    EXPECT_TRUE(opened->read(output).has_value()) << label;
    Trace trace;
    if (!peer.forms()[form].algorithm.empty())
      trace.push_back(RewriteStep{peer.forms()[form].algorithm, "O", {}});
    EXPECT_LE(difference(output, check.expected), relative_tolerance(check.workload.operation.dag, trace))
        << label;
    names.insert(check.workload.name);
  }
  return names;
}

TEST(Peers, ComputeWhatTheInterpreterDoes) {
  const Result<std::vector<Peer>> peers = load_peers(find_peers(LATHE_BINARY_DIR "/bin/peers"));
  ASSERT_TRUE(peers.has_value()) << peers.error().to_string();
  const std::vector<PeerCheck> checks = all_checks();
  std::map<std::string, std::set<std::string>> right;
  for (const Peer& peer : *peers) {
    for (size_t form = 0; form < peer.forms().size(); ++form) {
      right[peer.forms()[form].name] = right_cases(peer, form, checks);
    }
  }
  std::set<std::string> all;
  for (const PeerCheck& check : checks) all.insert(check.workload.name);
  all.erase("norm");
  EXPECT_EQ(right["onednn"], all);
  EXPECT_EQ(right["openblas"], (std::set<std::string>{"matmul", "matmul.one", "matmul.batch", "gemv"}));
  // The library has Winograd's algorithm for machines with AVX-512 alone.
  const bool has_avx512 = detect_target().value().name == "x86-avx512";
  EXPECT_EQ(right["onednn_winograd"].contains("winograd"), has_avx512);
  EXPECT_EQ(right["onednn_winograd"].contains("bn_relu.wide"), has_avx512);
}

}  // namespace
}  // namespace lathe::testing
