// `lathe run` without files, and what it tells of the time.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "cli/command_line.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

using ::testing::MatchesRegex;
using ::testing::StartsWith;

class RunTest : public CliTest {
 protected:
  Outcome expect_success(const std::string& arguments) const {
    Outcome outcome = lathe(arguments);
    EXPECT_EQ(outcome.status, 0) << arguments << ": " << outcome.err;
    return outcome;
  }
  std::vector<std::byte> bytes_of_file(const std::string& name) const {
    const Result<NpyArray> array = read_npy((folder_.path() / name).string());
    EXPECT_TRUE(array.has_value()) << name;
    return array ? array->bytes : std::vector<std::byte>();
  }
};

TEST_F(RunTest, RandomInputsFollowTheSeed) {
  write_matmul();
  // A folder's name has no double slash, however --out ends.
  ASSERT_THAT(lathe("compile --workload w.json --cores 1 --out o/").out, StartsWith("mm: o/mm, "));
  const std::string run = "run o/mm --repeat 1 --random --output ";
  expect_success(run + "c.npy");
  expect_success(run + "again.npy --seed 1");
  expect_success(run + "other.npy --seed 18446744073709551615");
  EXPECT_EQ(bytes_of_file("c.npy"), bytes_of_file("again.npy"));
  EXPECT_NE(bytes_of_file("c.npy"), bytes_of_file("other.npy"));
  // A file that is given takes the place of the random values.
  write_array("b.npy", DType::f32, {7, 8});
  expect_success(run + "zeros.npy --input B=b.npy");
  EXPECT_EQ(bytes_of_file("zeros.npy"), std::vector<std::byte>(9 * 8 * 4));

  EXPECT_EQ(sentence("run o/mm"),
            "lathe: --input: the artifact has 2 inputs, 0 are given (--input X.npy for each, or --random)");
  EXPECT_EQ(sentence("run o/mm --random --input b.npy b.npy b.npy"),
            "lathe: --input: the artifact has 2 inputs, 3 are given");
  EXPECT_EQ(sentence("run o/mm --seed 3"), "lathe: --seed: the seed is that of --random, which is not given");
  EXPECT_EQ(sentence("run o/mm --random --seed -3"),
            "lathe: --seed: Value -3 not in range 0 to 18446744073709551615 (lathe --help tells more)");
}

// Integers that serve as indices stay inside of what they index, and use all of it.
TEST_F(RunTest, RandomIndicesAreLegal) {
  write_workload(
      R"({"name": "take", "op": "expression",
          "text": "input T[50, 3] input I[400] i32 C[i:400, j:3] = T[I[i], j]"})");
  expect_success("compile --workload w.json --cores 1 --out o");
  NpyArray table{DType::f32, {50, 3}, std::vector<std::byte>(50 * 3 * sizeof(float))};
  for (int row = 0; row < 50; ++row) {
    const auto value = static_cast<float>(row);
    for (int j = 0; j < 3; ++j)
      std::memcpy(table.bytes.data() + sizeof(float) * (3 * row + j), &value, sizeof value);
  }
  ASSERT_TRUE(write_npy((folder_.path() / "t.npy").string(), table).has_value());
  expect_success("run o/take --random --input T=t.npy --output c.npy --repeat 1");
  const std::vector<std::byte> taken = bytes_of_file("c.npy");
  std::set<float> rows;
  for (size_t at = 0; at < taken.size(); at += sizeof(float)) {
    float value = 0;
    std::memcpy(&value, taken.data() + at, sizeof value);
    rows.insert(value);
  }
  EXPECT_GT(rows.size(), 30U);
}

TEST_F(RunTest, OutputsHaveNamesAsInputsDo) {
  write_workload(R"({"name": "s", "op": "expression", "text": "C[i:5] = A[i] + 1.0"})");
  expect_success("compile --workload w.json --cores 1 --out o");
  const std::string run = "run o/s --random --repeat 1 --output ";
  expect_success(run + "first.npy");
  expect_success(run + "C=second.npy");
  EXPECT_EQ(bytes_of_file("first.npy"), bytes_of_file("second.npy"));
  EXPECT_EQ(sentence(run + "D=d.npy"), "lathe: --output: the artifact has no output 'D'; it has C");
  EXPECT_EQ(sentence(run + "''"), "lathe: --output: no file is given for output 'C'");
  EXPECT_EQ(sentence(run + "C="), "lathe: --output: no file is given for output 'C'");
}

// Those that have no name in front are for the others, in order.
TEST_F(RunTest, InputsByNameLeaveTheOthersInOrder) {
  write_matmul();
  expect_success("compile --workload w.json --cores 1 --out o");
  write_array("a.npy", DType::f32, {9, 7});
  write_array("b.npy", DType::f32, {7, 8});
  expect_success("run o/mm --repeat 1 --input B=b.npy --input a.npy");
  expect_success("run o/mm --repeat 1 --input b.npy --input A=a.npy");
  EXPECT_EQ(sentence("run o/mm --input B=b.npy --input B=b.npy"), "lathe: --input: input 'B' is given twice");
}

TEST_F(RunTest, AShapeWithoutEndIsAbridged) {
  write_workload(R"({"name": "s", "op": "expression", "text": "C[i:5] = A[i] + 1.0"})");
  expect_success("compile --workload w.json --cores 1 --out o");
  std::string head = "{'descr': '<f4', 'fortran_order': False, 'shape': (";
  for (int i = 0; i < 200'000; ++i) head += "1,";
  head += "), }";
  std::string file("\x93NUMPY\x02\x00", 8);
  for (int byte = 0; byte < 4; ++byte) file += static_cast<char>(head.size() >> 8 * byte);
  write("long.npy", file + head + std::string(4, '\0'));
  const std::string told = sentence("run o/s --input long.npy");
  EXPECT_THAT(told, ::testing::HasSubstr("f32[1,1,1,"));
  EXPECT_LT(told.size(), 400U);
}

TEST_F(RunTest, OfNamesThatBeginAlikeTheLongestIsMeant) {
  OnnxModel model;
  model.input("a", {4}).input("a=b", {4}).node("sum", "Add", {"a", "a=b"}, "y").output("y");
  write("m.onnx", model.bytes());
  expect_success("compile m.onnx --cores 1 --out o");
  write_array("x.npy", DType::f32, {4});
  for (const char* inputs : {"a=x.npy a=b=x.npy", "a=b=x.npy a=x.npy"})
    expect_success(std::string("run o --repeat 1 --input ") + inputs);
}

TEST_F(RunTest, ANetworkRunsOnRandomInputs) {
  write("m.onnx", small_conv_model().bytes());
  expect_success("compile m.onnx --cores 1 --out o");
  expect_success("run o --random --repeat 1");
}

TEST_F(RunTest, PercentilesAreInAnotherUnitThanTheLatency) {
  write_matmul();
  ASSERT_EQ(lathe("compile --workload w.json --cores 1 --out o").status, 0);
  EXPECT_THAT(expect_success("run o/mm --random --repeat 3").out,
              MatchesRegex("latency: [0-9.]+ ms \\(median of 3, spread [0-9.]+ %\\)\n"));
  EXPECT_THAT(expect_success("run o/mm --random --repeat 3 --percentiles").out,
              MatchesRegex("latency: [0-9.]+ ms \\(median of 3, spread [0-9.]+ %\\)\n"
                           "percentiles of [0-9]+ runs: p50 [0-9.]+ us, p90 [0-9.]+ us, p99 [0-9.]+ us\n"
                           "throughput: [0-9.]+ runs/s, one after another\n"));
}

TEST_F(RunTest, TheProfileHasARowForEachKernelAndNoOtherFigureInMs) {
  write("m.onnx", small_conv_model().bytes());
  expect_success("compile m.onnx --cores 1 --out o");
  const Outcome run = expect_success("run o --random --repeat 3 --profile --json r.json --trace t.json");
  const nlohmann::json manifest = nlohmann::json::parse(read_text(folder_.path() / "o/manifest.json"));
  const size_t launches = manifest.at("launches").size();
  std::vector<std::string> lines;
  std::istringstream text(run.out);
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), 7 + launches) << run.out;
  EXPECT_THAT(lines[0], MatchesRegex("latency: [0-9.]+ ms \\(median of 3, spread [0-9.]+ %\\)"));
  EXPECT_THAT(lines[1],
              MatchesRegex("launch +time +share +GFLOP/s +GB/s of bound  bound by .*computes +name"));
  EXPECT_THAT(lines[2], MatchesRegex(" +[0-9.]+ us +[0-9.]+ % +- +- +-  - +- +inputs"));
  for (size_t i = 0; i < launches; ++i) {
    const std::string name = manifest["launches"][i]["name"];
    EXPECT_THAT(lines[3 + i],
                MatchesRegex(fmt::format(" +{} +[0-9.]+ us +[0-9.]+ % +[0-9.]+ +[0-9.]+ +[0-9]+ %  "
                                         "(compute|memory).* {}",
                                         i, name)));
  }
  EXPECT_THAT(lines[3 + launches], ::testing::EndsWith("  outputs"));
  EXPECT_THAT(lines[4 + launches], ::testing::EndsWith("  between kernels"));
  EXPECT_THAT(lines[6 + launches],
              MatchesRegex("peaks on 1 core: [0-9.]+ GFLOP/s, [0-9.]+ GB/s from L2, .*"));
  EXPECT_EQ(run.out.find(" ms ", run.out.find(" ms ") + 1), std::string::npos);

  const nlohmann::json told = nlohmann::json::parse(read_text(folder_.path() / "r.json"));
  EXPECT_EQ(told.at("samples"), 3);
  EXPECT_EQ(told.at("profile").at("rows").size(), 3 + launches);
  const nlohmann::json trace = nlohmann::json::parse(read_text(folder_.path() / "t.json"));
  EXPECT_EQ(std::ranges::count_if(trace.at("traceEvents"),
                                  [](const auto& event) { return event.value("cat", "") == "launch"; }),
            3 * launches);
}

TEST_F(RunTest, ReportsTakeNoOtherFilesPlace) {
  write_matmul();
  expect_success("compile --workload w.json --cores 1 --out o");
  const std::string run = "run o/mm --random --repeat 1 ";
  EXPECT_EQ(sentence(run + "--json o/mm/manifest.json"),
            "lathe: --json o/mm/manifest.json and DIR o/mm/manifest.json name the same file, which would be "
            "overwritten");
  EXPECT_EQ(sentence(run + "--output C=c.npy --trace c.npy"),
            "lathe: --trace c.npy and --output c.npy name the same file, which would be overwritten");
  EXPECT_EQ(sentence(run + "--trace x --json x"),
            "lathe: --trace x and --json x name the same file, which would be overwritten");
}

}  // namespace
}  // namespace lathe
