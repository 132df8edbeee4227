#include "ops/workloads.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "expr/parse.h"
#include "expr/print.h"
#include "expr/structural_hash.h"
#include "folders.h"
#include "rewrite/rewrite.h"
#include "target/all.h"

namespace lathe {
namespace {

std::string error_of(std::string_view text) {
  const auto workloads = parse_workloads(text, "w.json");
  return workloads ? "no error" : workloads.error().to_string();
}

TEST(Workloads, TheWholeListLoadsPrintsAndParses) {
  const auto workloads = load_workloads(LATHE_SOURCE_DIR "/workloads/operators.json");
  ASSERT_TRUE(workloads.has_value()) << workloads.error().to_string();
  EXPECT_EQ(workloads->size(), 241u);
  for (const Workload& workload : *workloads) {
    const Dag& dag = workload.operation.dag;
    const std::string text = to_string(dag);
    const Result<Dag> again = parse_dag(text);
    ASSERT_TRUE(again.has_value()) << workload.name << "\n" << text << again.error().to_string();
    EXPECT_EQ(hash_of(*again), hash_of(dag)) << text;
    const auto alone = parse_workloads("[" + workload.entry + "]", "entry");
    ASSERT_TRUE(alone.has_value()) << workload.entry;
    EXPECT_EQ(hash_of(alone->front().operation.dag), hash_of(dag)) << workload.entry;
    EXPECT_TRUE(make_task(workload, generic_target("x86-avx2"), true).has_value()) << workload.name;
    // Shifting moves elements and computes nothing.
    EXPECT_EQ(workload.operation.flops > 0, workload.op != "shift_conv2d") << workload.name;
    EXPECT_EQ(workload.operation.algorithm, workload.op == "conv2d_winograd" ? "winograd" : "");
  }
}

std::string winograd_entry(const std::string& shape) {
  return R"([{"name": "x", "op": "conv2d_winograd", "batch": 1, "height": 13, "width": 13, "in_channels": 4,
      "out_channels": 4, "padding": 1, )" +
         shape + "}]";
}

TEST(Workloads, WhatWinogradsAlgorithmDoesNotComputeIsRefused) {
  const std::string begin =
      "w.json: entry 'x': conv2d_winograd is for convolutions of stride 1 without dilation and groups, with "
      "kernels of 2 to 5, and its ";
  const std::string end = ": Winograd's algorithm computes no other";
  EXPECT_EQ(error_of(winograd_entry(R"("kernel": 3, "stride": 2)")), begin + "'stride' is 2" + end);
  EXPECT_EQ(error_of(winograd_entry(R"("kernel": 3, "stride": 1, "dilation": 2)")),
            begin + "'dilation' is 2" + end);
  EXPECT_EQ(error_of(winograd_entry(R"("kernel": 3, "stride": 1, "groups": 2)")),
            begin + "'groups' is 2" + end);
  EXPECT_EQ(error_of(winograd_entry(R"("kernel": 1, "stride": 1)")), begin + "'kernel' is 1" + end);
  EXPECT_EQ(error_of(winograd_entry(R"("kernel": 6, "stride": 1)")), begin + "'kernel' is 6" + end);
}

// The operator's limits are the rule's.
TEST(Workloads, WhatIsRequiredByWinogradCanBeRewrittenSo) {
  for (const int kernel : {2, 3, 4, 5}) {
    const auto workloads =
        parse_workloads(winograd_entry(fmt::format(R"("kernel": {}, "stride": 1)", kernel)), "w");
    ASSERT_TRUE(workloads) << workloads.error().to_string();
    const Result<Dag> rewritten = rewrite(workloads->front().operation.dag, "winograd", "O", {{"m", 2}});
    EXPECT_TRUE(rewritten) << rewritten.error().to_string();
  }
}

TEST(Workloads, ANumberBeyondAllIsAnError) {
  const auto workloads = parse_workloads(R"([{"name": "a", "op": "gemv", "m": 1e999, "k": 4}])", "w.json");
  ASSERT_FALSE(workloads);
  EXPECT_EQ(workloads.error().to_string(), "w.json: it holds a number that is too large");
}

TEST(Workloads, ANestedOrALongValueIsAShortError) {
  for (const char* key : {"m", "suite", "constants"}) {
    const std::string entry = fmt::format(R"([{{"name": "x", "op": "gemv", "{}": )", key);
    EXPECT_TRUE(error_of(entry + std::string(200'000, '[')).ends_with("nested more than 64 deep here"))
        << key;
  }
  const std::string list = "[\"" + std::string(1000, 'x') + "\"]";
  EXPECT_EQ(error_of(R"([{"name": "x", "op": "gemv", "k": 1, "m": )" + list + "}]"),
            "w.json: entry 'x': 'm' of gemv is an integer from 1 to 2147483647, not " + list.substr(0, 100) +
                " ..");
}

TEST(Workloads, Errors) {
  EXPECT_EQ(error_of("[{\"name\": 1}"), "w.json:1:13: this is no valid JSON");
  EXPECT_EQ(error_of("[]"), "w.json: the list of workloads is empty");
  EXPECT_EQ(error_of("[3]"), "w.json: entry 1: the entry is no object");
  EXPECT_EQ(error_of(R"([{"op": "gemv"}])"), "w.json: entry 1: the entry has no 'name'");
  EXPECT_EQ(error_of(R"([{"name": "x", "op": 3}])"), "w.json: entry 'x': 'op' is no string");
  EXPECT_EQ(error_of(R"([{"name": "x", "op": "gemv", "m": 3}])"),
            "w.json: entry 'x': gemv needs the parameter 'k'");
  EXPECT_EQ(error_of(R"([{"name": "x", "op": "gemv", "m": 3, "k": 2, "kk": 1}])"),
            "w.json: entry 'x': gemv has no parameter 'kk'; its parameters are m, k");
  for (const char* value :
       {"0", "-1", "1.5", "\"one\"", "true", "null", "99999999999999999999", "2147483648"}) {
    const std::string text = std::string(R"([{"name": "x", "op": "gemv", "m": 3, "k": )") + value + "}]";
    EXPECT_TRUE(
        error_of(text).starts_with("w.json: entry 'x': 'k' of gemv is an integer from 1 to 2147483647, not "))
        << error_of(text);
  }
  EXPECT_TRUE(error_of(R"([{"name": "x", "op": "conv9d"}])")
                  .starts_with("w.json: entry 'x': there is no operator 'conv9d'; there are matmul, gemv, "));
  for (const std::string name : {"", ".", "..", "/", "a/../../x"}) {
    EXPECT_EQ(
        error_of(fmt::format(R"([{{"name": "{}", "op": "gemv", "m": 3, "k": 2}}])", name)),
        fmt::format("w.json: entry 1: 'name' must be the name of a folder, without '/', not '{}'", name));
  }
  for (const std::string name : {"a\\nb", "a\\u001b[2Jb", "a\\u0000b"}) {
    EXPECT_EQ(
        error_of(fmt::format(R"([{{"name": "{}", "op": "gemv", "m": 3, "k": 2}}])", name)),
        fmt::format("w.json: entry 1: 'name' must have no control characters, such as the end of a line: "
                    "\"{}\"",
                    name));
  }
  const auto named = [](size_t length) {
    return fmt::format(R"([{{"name": "{}", "op": "gemv", "m": 3, "k": 2}}])", std::string(length, 'a'));
  };
  EXPECT_EQ(error_of(named(1001)),
            "w.json: entry 1: 'name' has 1001 bytes, and at most 1000 are allowed: it begins with '" +
                std::string(100, 'a') + " ..'");
  EXPECT_TRUE(parse_workloads(named(1000), "w.json").has_value());
  EXPECT_EQ(
      error_of(
          R"([{"name": "x", "op": "gemv", "m": 3, "k": 2}, {"name": "x", "op": "gemv", "m": 3, "k": 2}])"),
      "w.json: two entries are named 'x'");
  EXPECT_EQ(
      error_of(R"([{"name": "x", "op": "conv1d", "batch": 1, "length": 4, "in_channels": 1, "out_channels": 1,
                          "kernel": 7, "stride": 1, "padding": 1}])"),
      "w.json: entry 'x': a kernel of 7 with dilation 1 does not fit an input of 4 with padding 1 and 1");
  EXPECT_EQ(
      error_of(R"([{"name": "x", "op": "conv1d", "batch": 1, "length": 4, "in_channels": 4, "out_channels": 6,
                          "kernel": 1, "stride": 1, "padding": 0, "groups": 4}])"),
      "w.json: entry 'x': 4 groups do not divide both 4 input and 6 output channels");
  EXPECT_TRUE(
      error_of(R"([{"name": "x", "op": "matmul", "batch": 2147483647, "m": 2147483647, "n": 1, "k": 1}])")
          .starts_with("w.json: entry 'x': input 'A' has 4.61e+18 points"));
  EXPECT_EQ(load_workloads("/nowhere/w.json").error().to_string(),
            "/nowhere/w.json: there is no such file, or it cannot be read");
  EXPECT_EQ(load_workloads("/tmp").error().to_string(), "/tmp: this is a folder, not a file");
}

TEST(Workloads, OneObjectIsAListOfOne) {
  const auto workloads = parse_workloads(R"({"name": "x", "op": "gemv", "m": 3, "k": 4})", "w.json");
  ASSERT_TRUE(workloads.has_value()) << workloads.error().to_string();
  ASSERT_EQ(workloads->size(), 1U);
  EXPECT_EQ(workloads->front().name, "x");
  EXPECT_EQ(workloads->front().operation.flops, 2 * 3 * 4);
  EXPECT_EQ(error_of("3"),
            "w.json: workloads are a JSON list of objects, such as "
            "[{\"name\": \"v\", \"op\": \"gemv\", \"m\": 3, \"k\": 4}]");
  EXPECT_EQ(error_of("{}"), "w.json: entry 1: the entry has no 'name'");
  EXPECT_EQ(error_of(R"([{"name": "x", "op": "gemv", "m": 3, "k": 4, "m": 5}])"),
            "w.json:1:46: the key \"m\" stands in its object a second time here");
}

TEST(Workloads, AMatmulWithoutBatchIsOfTwoMatrices) {
  const auto workloads = parse_workloads(
      R"([{"name": "a", "op": "matmul", "m": 3, "n": 4, "k": 5},
          {"name": "b", "op": "matmul", "batch": 1, "m": 3, "n": 4, "k": 5}])",
      "w.json");
  ASSERT_TRUE(workloads.has_value()) << workloads.error().to_string();
  EXPECT_EQ(hash_of(workloads->at(0).operation.dag), hash_of(workloads->at(1).operation.dag));
  EXPECT_EQ(workloads->at(0).operation.constants, std::vector<std::string>{"B"});
}

TEST(Workloads, Expression) {
  const auto workloads = parse_workloads(
      R"([{"name": "mm", "op": "expression", "text": "C[i:1000, j:1001] = sum(r:999) A[i,r] * B[r,j]",
           "constants": ["B"]}])",
      "w.json");
  ASSERT_TRUE(workloads.has_value()) << workloads.error().to_string();
  EXPECT_EQ(workloads->at(0).operation.flops, int64_t{2} * 1000 * 1001 * 999);
  EXPECT_EQ(workloads->at(0).operation.constants, std::vector<std::string>{"B"});
  EXPECT_EQ(error_of(R"([{"name": "mm", "op": "expression", "text": "C[i:4] = A[j]"}])"),
            "w.json: entry 'mm': text:1:12: 'j' is no axis of this compute");
  EXPECT_EQ(error_of(R"([{"name": "mm", "op": "expression", "text": "C[i:4] = A[i]", "constants": ["B"]}])"),
            "w.json: entry 'mm': constant 'B' is no input of the expression");
  EXPECT_EQ(error_of(R"([{"name": "mm", "op": "expression"}])"),
            "w.json: entry 'mm': expression needs the parameter 'text'");
  EXPECT_EQ(error_of(R"([{"name": "mm", "op": "expression", "text": "C[i:4] = A[i]", "m": 1}])"),
            "w.json: entry 'mm': expression has no parameter 'm'; its parameters are text, constants");
}

}  // namespace
}  // namespace lathe
