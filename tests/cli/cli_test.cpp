// The command line as a user sees it: what it prints, and its exit status.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "artifact/open/npy.h"
#include "cli/command_line.h"
#include "folders.h"
#include "graph/onnx/models.h"
#include "records/record_store.h"
#include "target/detect.h"

namespace lathe {
namespace {

using ::testing::ContainsRegex;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

TEST_F(CliTest, ModelsAtFaultAreNamed) {
  EXPECT_EQ(sentence("compile none.onnx --out o"), "lathe: none.onnx: there is no such file");
  write("text.onnx", "hello, this is no model");
  EXPECT_EQ(sentence("compile text.onnx --out o"), "lathe: text.onnx: it is not an ONNX model");
  const std::string bytes = small_conv_model().bytes();
  write("cut.onnx", bytes.substr(0, bytes.size() - 20));
  EXPECT_EQ(sentence("compile cut.onnx --out o"), "lathe: cut.onnx: the ONNX model is truncated");
  OnnxModel model = small_conv_model();
  model.proto.mutable_graph()->mutable_node(0)->set_op_type("StringConcat");
  write("strings.onnx", model.bytes());
  EXPECT_EQ(sentence("compile strings.onnx --out o"),
            "lathe: strings.onnx: Lathe does not support the node type 'StringConcat' (node 'first') of the "
            "model, whose operator set is ONNX 17");
  EXPECT_EQ(
      sentence("tune none.onnx --input x --records r.db"),
      "lathe: --input: 'x' is no input shape, it must look like NAME=1,3,224,224 or, where a size stays "
      "free, NAME=1..16,3,224,224");
}

TEST_F(CliTest, WorkloadsAtFaultAreNamed) {
  EXPECT_EQ(sentence("compile --workload none.json --out o"),
            "lathe: none.json: there is no such file, or it cannot be read");
  write_workload(R"({"name": "a", "op": "quantum_fft", "n": 3})");
  EXPECT_EQ(sentence("compile --workload w.json --out o"),
            "lathe: w.json: entry 'a': there is no operator 'quantum_fft'; there are matmul, gemv, bilinear, "
            "conv1d, "
            "conv2d, conv3d, conv2d_winograd, conv2d_bn_relu, depthwise_conv2d, conv1d_transpose, "
            "conv2d_transpose, "
            "conv3d_transpose, capsule_conv2d, transpose_batch_matmul_softmax, frobenius_norm, "
            "block_circulant_matrix, shift_conv2d, expression");
  write_workload(R"({"name": "a", "op": "gemv", "m": 3, "k": 4, "colour": 5})");
  EXPECT_EQ(sentence("compile --workload w.json --out o"),
            "lathe: w.json: entry 'a': gemv has no parameter 'colour'; its parameters are m, k");
  write("w.json", "[]");
  EXPECT_EQ(sentence("compile --workload w.json --out o"), "lathe: w.json: the list of workloads is empty");
  EXPECT_EQ(sentence("compile --workload . --out o"), "lathe: .: this is a folder, not a file");
  write_matmul();
  EXPECT_EQ(sentence("compile --workload w.json --filter zzz --out o"),
            "lathe: --filter: no entry of w.json has a name that matches 'zzz'");
  EXPECT_EQ(sentence("compile --workload w.json --filter '(' --out o"),
            "lathe: --filter: '(' is no regular expression");
  EXPECT_EQ(
      sentence("compile --workload w.json --target vax --out o"),
      "lathe: --target: unknown target 'vax': one of native, x86-avx512, x86-avx2, aarch64-neon, opencl");
  EXPECT_EQ(sentence("compile --workload w.json --cores 4000 --out o"),
            "lathe: --cores: 4000 cores are more than the " + std::to_string(allowed_cpus().size()) +
                " that this process may use");
  EXPECT_EQ(sentence("compile m.onnx --workload w.json --out o"),
            "lathe: give either a model or --workload, not both: 'm.onnx' and 'w.json'");
  EXPECT_EQ(sentence("compile w.json --out o"),
            "lathe: w.json: a file of operators is given by --workload: --workload w.json");
  EXPECT_EQ(sentence("compile --out o"),
            "lathe: nothing to work on: give MODEL.onnx or --workload FILE.json");
}

TEST_F(CliTest, RecordsAtFaultAreNamed) {
  write_matmul();
  const std::string not_records = "lathe: w.json is not a Lathe records file: it is not an SQLite database";
  EXPECT_EQ(sentence("show w.json"), not_records);
  EXPECT_EQ(sentence("replay w.json --record 1"), not_records);
  EXPECT_EQ(sentence("compile --workload w.json --records w.json --out o"), not_records);
  EXPECT_EQ(sentence("tune --workload w.json --records w.json"), not_records);
  EXPECT_EQ(sentence("show none.db"), "lathe: there is no records file none.db");
  EXPECT_TRUE(sentence("tune --workload w.json --strategy luck --records r.db")
                  .starts_with("lathe: there is no strategy 'luck'; legal names are evolutionary, random,"));
  EXPECT_EQ(sentence("tune --workload w.json --space luck --records r.db"),
            "lathe: there is no space 'luck'; legal names are lathe, autotvm, ansor, flextensor");
  EXPECT_EQ(sentence("explain r.db --task 1f"), "lathe: --task: r.db has no records of task 1f");
  EXPECT_EQ(sentence("replay r.db --record 7"), "lathe: the records file r.db has no record 7");
  EXPECT_EQ(sentence("show r.db --task xyz"),
            "lathe: --task: 'xyz' is no task: it has 16 hexadecimal digits, of which the first will do");
}

TEST_F(CliTest, ArtifactsAndInputsAtFaultAreNamed) {
  write_matmul();
  ASSERT_EQ(lathe("compile --workload w.json --out o").status, 0);
  write_array("a.npy", DType::f32, {9, 7});
  write_array("b.npy", DType::f32, {7, 8});
  write_array("wide.npy", DType::f64, {9, 7});
  write("text.npy", "hello, this is no array");
  EXPECT_EQ(sentence("run o/mm --input b.npy --input b.npy"),
            "lathe: b.npy: input 'A' must be f32[9,7], this is f32[7,8]");
  EXPECT_EQ(sentence("run o/mm --input wide.npy --input b.npy"),
            "lathe: wide.npy: input 'A' must be f32[9,7], this is f64[9,7]");
  EXPECT_EQ(sentence("run o/mm --input a.npy"), "lathe: --input: the artifact has 2 inputs, 1 is given");
  EXPECT_EQ(sentence("run o/mm --input Z=a.npy --input b.npy"),
            "lathe: --input: the artifact has no input 'Z'; it has A, B");
  EXPECT_EQ(sentence("run o/mm --input A=a.npy --input A=a.npy"), "lathe: --input: input 'A' is given twice");
  EXPECT_EQ(sentence("run o/mm --input A= --input b.npy"), "lathe: --input: no file is given for input 'A'");
  EXPECT_EQ(sentence("run o/mm --input none.npy --input b.npy"),
            "lathe: none.npy: there is no such file, or it cannot be read");
  EXPECT_EQ(sentence("run o/mm --input text.npy --input b.npy"), "lathe: text.npy: this is not a .npy file");
  EXPECT_EQ(sentence("run o/mm --input a.npy --input b.npy --output c.npy --output d.npy"),
            "lathe: --output: the artifact has 1 output, 2 are given");
  EXPECT_EQ(sentence("run o/mm --fast"),
            "lathe: there is no option or argument '--fast' here (lathe --help tells more)");
  EXPECT_EQ(sentence("run none --input a.npy"), "lathe: none: there is no such folder");
  EXPECT_EQ(sentence("run o --input a.npy"), "lathe: o: this is not an artifact, it has no manifest.json");
}

TEST_F(CliTest, TunesCompilesAndRuns) {
  write_matmul();
  const Outcome tuned =
      lathe("tune --workload w.json --cores 1 --trials 3 --records r.db --json r.json --out tuned");
  ASSERT_EQ(tuned.status, 0) << tuned.err;
  const auto report = nlohmann::json::parse(read_text(folder_.path() / "r.json"));
  EXPECT_EQ(report[0]["name"], "mm");
  EXPECT_EQ(report[0]["trials"], 3);
  EXPECT_EQ(report[0]["flops"], 2 * 9 * 8 * 7);
  EXPECT_EQ(report[0]["bytes"], 4 * (9 * 7 + 7 * 8 + 9 * 8));
  EXPECT_GT(report[0]["seconds"], 0);
  EXPECT_GT(report[0]["tolerance"], 0);
  EXPECT_LE(report[0]["largest_difference"], report[0]["tolerance"]);
  EXPECT_THAT(lathe("show r.db").out, HasSubstr("mm"));
  const auto shown = nlohmann::json::parse(lathe("show r.db --json").out);
  ASSERT_EQ(shown.size(), 2U);  // with layouts of its own, and with those of its caller
  EXPECT_EQ(shown[0]["trials"].get<int>() + shown[1]["trials"].get<int>(), 3);
  EXPECT_EQ(lathe("compile --workload w.json --out c --emit c").status, 0);
  EXPECT_THAT(read_text(folder_.path() / "c/mm/kernel0.c"), HasSubstr("lathe_task0_kernel"));
  EXPECT_THAT(lathe("replay r.db --record 1 --emit loops").out, HasSubstr("output C"));
  EXPECT_THAT(lathe("replay r.db --record 1").out,
              MatchesRegex("record 1: mm on x86-avx[0-9]+, 1 core\n"
                           "recorded: [0-9.]+ us, spread [0-9.]+ %\n"
                           "now:      [0-9.]+ us, spread [0-9.]+ %, [0-9.]+ of the recorded time\n"
                           "outputs:  all agree with the reference, largest difference [0-9.e-]+ of its "
                           "magnitude \\([0-9.e-]+ allowed\\)\n"));

  write_array("a.npy", DType::f32, {9, 7});
  write_array("b.npy", DType::f32, {7, 8});
  const Outcome run = lathe("run tuned/mm --input a.npy --input B=b.npy --output c.npy --repeat 3");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, MatchesRegex("latency: [0-9.]+ ms \\(median of 3, spread [0-9.]+ %\\)\n"));
  const Result<NpyArray> c = read_npy((folder_.path() / "c.npy").string());
  ASSERT_TRUE(c.has_value());
  EXPECT_EQ(c->shape, (std::vector<int64_t>{9, 8}));
}

TEST_F(CliTest, AnEntryThatCannotBeCompiledKeepsNoOtherFromBeingWritten) {
  const std::string convolution = R"json("op": "conv2d_winograd", "batch": 1, "height": 9, "width": 9,
    "in_channels": 2, "out_channels": 3, "kernel": 3, "stride": 1, "padding": 0, "dilation": 1, "groups": 1})json";
  write_workload("{\"name\": \"spreads\", " + convolution + R"json(,
    {"name": "good", "op": "expression", "text": "C[i:5] = A[i] + 1.0"},
    {"name": "spreads2", )json" +
                 convolution + R"json(,
    {"name": "last", "op": "expression", "text": "C[i:5] = A[i] * 2.0"})json");
  const Outcome compiled = lathe("compile --exact-specials --workload w.json --cores 1 --out o");
  EXPECT_EQ(compiled.status, 1);
  EXPECT_THAT(compiled.out, MatchesRegex("good: o/good, [^\n]* ms a run [^\n]*\nlast: o/last, [^\n]*\n"));
  const std::string why =
      ": the task is to be computed by the algorithm 'winograd', which spreads infinities and NaN to results "
      "beside them\n";
  EXPECT_THAT(compiled.err, EndsWith("lathe: spreads" + why + "lathe: spreads2" + why));
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "o/last/model.so"));
}

// What they leave open need not come to a step; an infinity of their type is a literal that reads back.
TEST_F(CliTest, ScalarsAndInfinitiesOfNarrowTypesAreTunedAndKept) {
  write_workload(R"json({"name": "dot", "op": "expression", "text": "input A[17] M[] = sum(i:17) A[i]"},
    {"name": "bytes", "op": "expression", "text": "input A[15] u8 M[] = max(i:15) A[i]"},
    {"name": "halves", "op": "expression",
     "text": "input A[40] f16 C[i:40] = select(A[i] < f16(70000.0), A[i], f16(70000.0))"})json");
  const Outcome tuned = lathe("tune --workload w.json --trials 3 --cores 1 --records r.db --out o");
  EXPECT_EQ(tuned.status, 0) << tuned.err;
  EXPECT_THAT(tuned.err, Not(HasSubstr("damaged")));
  const Outcome compiled = lathe("compile --workload w.json --cores 1 --records r.db --out again");
  EXPECT_EQ(compiled.status, 0) << compiled.err;
  EXPECT_THAT(compiled.err, Not(HasSubstr("untuned")));
}

TEST_F(CliTest, SeveralValuesFollowOneName) {
  write_workload(R"({"name": "s", "op": "expression", "text": "C[i:5] = A[i] + B[i]  D[i:5] = C[i] * 2.0"})");
  ASSERT_EQ(lathe("compile --workload w.json --cores 1 --out o").status, 0);
  write_array("a.npy", DType::f32, {5});
  const auto expect_runs = [&](const std::string& arguments) {
    const Outcome run = lathe("run --repeat 1 " + arguments);
    EXPECT_EQ(run.status, 0) << arguments << ": " << run.err;
  };
  expect_runs("o/s --input a.npy a.npy");
  expect_runs("--input a.npy a.npy o/s");
  expect_runs("--input=a.npy B=a.npy --output d.npy o/s");
  expect_runs("--input A=a.npy --input B=a.npy -- o/s");
  EXPECT_EQ(sentence("run o/s --input a.npy a.npy --output d.npy e.npy"),
            "lathe: --output: the artifact has 1 output, 2 are given");
  EXPECT_EQ(sentence("run --input a.npy a.npy o/s more"),
            "lathe: there is no option or argument 'more' here (lathe --help tells more)");

  EXPECT_EQ(sentence("compile --input x=1,3 y=2 none.onnx --out o"),
            "lathe: none.onnx: there is no such file");
  EXPECT_EQ(sentence("compile none.onnx --input x=1,3 x=4 --out o"),
            "lathe: --input: 'x=4' gives a shape a second time");
}

TEST_F(CliTest, AnOutputThatCannotBeWrittenWholeLeavesTheOneBefore) {
  write_workload(R"({"name": "wide", "op": "expression", "text": "C[i:9, j:9000] = A[i] + B[j]"})");
  ASSERT_EQ(lathe("compile --workload w.json --cores 1 --out o").status, 0);
  write_array("a.npy", DType::f32, {9});
  write_array("b.npy", DType::f32, {9000});
  write("c.npy", "kept");
  const std::string run =
      "cd '" + folder_.path().string() +
      "' && ulimit -f 64 && '" LATHE_BINARY_DIR
      "/bin/lathe' run o/wide --input a.npy --input b.npy --output c.npy > out.txt 2> err.txt";
  EXPECT_EQ(run_in_shell(run), 1);
  EXPECT_EQ(read_text(folder_.path() / "err.txt"),
            "lathe: c.npy: the file cannot be written: File too large\n");
  EXPECT_EQ(read_text(folder_.path() / "c.npy"), "kept");
}

TEST_F(CliTest, RecordsAreExplainedMeasuredAgainMergedAndPruned) {
  write_matmul();
  ASSERT_EQ(lathe("tune --workload w.json --cores 1 --trials 3 --records r.db").status, 0);
  const auto shown = nlohmann::json::parse(lathe("show r.db --json").out);
  const Outcome explained = lathe("explain r.db --task " + shown[0]["task"].get<std::string>());
  EXPECT_EQ(explained.status, 0) << explained.err;
  for (const char* part :
       {"best of 3 trials: ", "the program (record ", "together at least ", "what was tried:"}) {
    EXPECT_THAT(explained.out, HasSubstr(part));
  }
  const Outcome measured = lathe("bench --workload w.json --cores 1 --records r.db --json b.json");
  EXPECT_EQ(measured.status, 0) << measured.err;
  const auto bench = nlohmann::json::parse(read_text(folder_.path() / "b.json"));
  EXPECT_EQ(bench[0]["name"], "mm");
  EXPECT_EQ(bench[0]["trials"], 3);
  EXPECT_EQ(bench[0]["layout"], "free");
  EXPECT_GT(bench[0]["seconds"], 0);
  EXPECT_LE(bench[0]["largest_difference"], bench[0]["tolerance"]);
  EXPECT_EQ(lathe("records merge all.db r.db r.db").out,
            "r.db: 3 of 3 records were new to all.db\nr.db: 0 of 3 records were new to all.db\n");
  EXPECT_EQ(lathe("records prune all.db --keep 1").out, "all.db: 2 records removed, 1 kept\n");
  for (const char* log : {"all.db-wal", "all.db-shm", "r.db-wal", "r.db-shm"})
    EXPECT_FALSE(std::filesystem::exists(folder_.path() / log)) << log;
  EXPECT_EQ(sentence("records burn no.db"),
            "lathe: there is no command 'records burn' (lathe --help tells more)");
  EXPECT_EQ(sentence("records prune no.db"), "lathe: there is no records file no.db");

  write_workload(R"({"name": "other", "op": "expression", "text": "C[i:5] = A[i] + 1"})");
  const Outcome unknown = lathe("bench --workload w.json --cores 1 --records r.db");
  EXPECT_EQ(unknown.status, 1);
  EXPECT_THAT(unknown.err, MatchesRegex("(.|\n)*lathe: r.db: there is no program on x86-avx[0-9]+ and 1 "
                                        "core for other\n"));
}

TEST_F(CliTest, BenchTakesThisProcessorsRecordsFirst) {
  write_matmul();
  auto records = RecordStore::open(folder_.path() / "both.db");
  ASSERT_TRUE(records.has_value()) << records.error().to_string();
  for (const std::string layout : {"fixed", "free"}) {
    const std::string tune = "tune --workload w.json --cores 1 --trials 1";
    ASSERT_EQ(lathe(fmt::format("{0} --records {1}.db --layout {1}", tune, layout)).status, 0);
    std::vector<Record> found = RecordStore::open(folder_.path() / (layout + ".db"))->find({}).value();
    ASSERT_EQ(found.size(), 1U);
    if (layout == "free") {
      found[0].machine = "another";
      found[0].measurement = measurement_of({1e-12});
    }
    ASSERT_TRUE(records->append(found[0]).has_value());
  }
  const Outcome measured = lathe("bench --workload w.json --cores 1 --records both.db --json b.json");
  EXPECT_EQ(measured.status, 0) << measured.err;
  EXPECT_EQ(nlohmann::json::parse(read_text(folder_.path() / "b.json"))[0]["layout"], "fixed");
}

TEST_F(CliTest, CompileSaysWhatTheRecordsDoNotHold) {
  write_matmul();
  ASSERT_EQ(lathe("tune --workload w.json --cores 1 --trials 1 --records r.db").status, 0);
  const Outcome tuned = lathe("compile --workload w.json --cores 1 --records r.db --out o");
  EXPECT_EQ(tuned.status, 0);
  EXPECT_EQ(tuned.err.find("untuned"), std::string::npos) << tuned.err;
  write("w.json", R"([{"name": "sum", "op": "expression", "text": "C[i:5] = A[i] + 1"}])");
  const Outcome compiled = lathe("compile --workload w.json --cores 1 --records r.db --out o");
  EXPECT_EQ(compiled.status, 0);
  EXPECT_THAT(
      compiled.err,
      HasSubstr("lathe: sum: kernels that r.db has no usable program for, compiled untuned: 1 of 1\n"));
}

TEST_F(CliTest, TasksUnderOtherNamesAreLeftOutOfAMergeAndNamed) {
  write_matmul();
  ASSERT_EQ(lathe("tune --workload w.json --cores 1 --trials 1 --records into.db").status, 0);
  write("w.json", R"([{"name": "sum", "op": "expression", "text": "C[i:5] = A[i] + 1"},
    {"name": "mm2", "op": "expression", "text": "Z[a:9, b:8] = sum(k:7) X[a,k] * Y[k,b]"}])");
  ASSERT_EQ(lathe("tune --workload w.json --cores 1 --trials 1 --records from.db").status, 0);
  const Outcome merged = lathe("records merge into.db from.db");
  EXPECT_EQ(merged.status, 1);
  EXPECT_EQ(merged.out, "from.db: 1 of 2 records were new to into.db\n");
  EXPECT_THAT(
      merged.err,
      MatchesRegex("lathe: the records of these tasks were left out, as into.db knows the tasks under "
                   "other names of tensors and axes: [0-9a-f]+ \\(mm2\\) of from.db\n"));
}

TEST_F(CliTest, AReportThatCannotBeWrittenSaysWhy) {
  write_matmul();
  const Outcome tuned = lathe("tune --workload w.json --cores 1 --trials 1 --records r.db --json /dev/full");
  EXPECT_EQ(tuned.status, 1);
  EXPECT_THAT(tuned.err,
              HasSubstr("lathe: /dev/full: the file cannot be written: No space left on device\n"));
}

TEST_F(CliTest, WhatTuningCannotWriteIsNamedBeforeItBegins) {
  write_matmul();
  const std::string tune = "tune --workload w.json --cores 1 --trials 1 --records r.db ";
  const auto exists = [&](const char* name) { return std::filesystem::exists(folder_.path() / name); };
  EXPECT_EQ(sentence(tune + "--out w.json"), "lathe: w.json/mm: the folder cannot be made: w.json is a file");
  EXPECT_EQ(sentence(tune + "--out /proc/none"),
            "lathe: /proc/none/mm: the folder cannot be made: No such file or directory");
  EXPECT_EQ(sentence(tune + "--out new/deep --json none/r.json"),
            "lathe: none/r.json: the file cannot be written: No such file or directory");
  EXPECT_EQ(sentence(tune + "--json ."), "lathe: .: the file cannot be written: Is a directory");
  EXPECT_FALSE(exists("new"));
  EXPECT_FALSE(exists("r.db"));

  // What was there stays as it was while nothing is written.
  write("r.json", "kept");
  EXPECT_EQ(
      sentence(tune + "--json r.json --target vax"),
      "lathe: --target: unknown target 'vax': one of native, x86-avx512, x86-avx2, aarch64-neon, opencl");
  EXPECT_EQ(read_text(folder_.path() / "r.json"), "kept");

  // The report may go into a folder that the artifacts make.
  const Outcome tuned = lathe(tune + "--out new/deep --json new/deep/r.json");
  EXPECT_EQ(tuned.status, 0) << tuned.err;
  EXPECT_TRUE(exists("new/deep/r.json"));
  EXPECT_TRUE(exists("new/deep/mm/model.so"));
}

TEST_F(CliTest, OptionsThatChangeNothingAreNoted) {
  write_matmul();
  const std::string tune = "tune --workload w.json --cores 1 --trials 1 --records r.db ";
  EXPECT_EQ(lathe(tune + "--layout free").err.find("lathe: note: "), std::string::npos);
  const Outcome scheduled = lathe(tune + "--scheduler gradient");
  EXPECT_EQ(scheduled.status, 0);
  EXPECT_THAT(scheduled.err, HasSubstr("lathe: note: --scheduler has no effect here: operators are tuned one "
                                       "after another\n"));
  // Whatever comes of the model.
  EXPECT_THAT(
      lathe("tune none.onnx --layout free --records r.db").err,
      HasSubstr("lathe: note: --layout free has no effect here: a network's tasks have fixed layouts\n"));
  EXPECT_THAT(lathe("tune none.onnx --case-time 5 --records r.db").err,
              HasSubstr("lathe: note: --case-time has no effect here: a network's tasks share --time\n"));
}

TEST_F(CliTest, ANetworksTaskThatCannotBeTunedIsWarnedOf) {
  OnnxModel model;
  model.input("x", {8, 8}).initializer("w", {8, 8});
  model.node("m", "MatMul", {"x", "w"}, "y").output("y");
  model.node("n", "Neg", {"x"}, "b").node("l", "Log", {"b"}, "z").output("z");
  write("net.onnx", model.bytes());
  const Outcome tuned = lathe("tune net.onnx --cores 1 --trials 2 --records r.db --json r.json");
  EXPECT_EQ(tuned.status, 0) << tuned.err;
  EXPECT_THAT(
      tuned.err,
      HasSubstr("lathe: warning: n is not tuned: output 'out' is infinite or no number for random inputs: "
                "programs cannot be compared\n"));
  const auto rows = nlohmann::json::parse(read_text(folder_.path() / "r.json"));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["trials"].get<int>() + rows[1]["trials"].get<int>(), 4);
}

TEST_F(CliTest, TuningTriesTheLayoutsThatItIsTold) {
  write_matmul();
  const auto layouts_tried = [&](const std::string& name, const std::string& options) {
    const std::string tune = "tune --workload w.json --cores 1 --trials 5 --enough 0 --records ";
    EXPECT_EQ(lathe(tune + name + ".db " + options).status, 0);
    std::map<bool, int> trials;  // by whether layouts are free
    const std::vector<Record> records = RecordStore::open(folder_.path() / (name + ".db"))->find({}).value();
    for (const Record& record : records) ++trials[record.task.free_layouts];
    return trials;
  };
  EXPECT_EQ(layouts_tried("plain", ""), (std::map<bool, int>{{true, 5}}));
  EXPECT_EQ(layouts_tried("both", "--out o"), (std::map<bool, int>{{true, 3}, {false, 2}}));
  EXPECT_EQ(layouts_tried("fixed", "--out o --layout fixed"), (std::map<bool, int>{{false, 5}}));
}

TEST_F(CliTest, TuningThatCouldNotWriteItsArtifactsDoesNotBegin) {
  write_matmul();
  const std::string tune = "' tune --workload w.json --cores 1 --trials 1 --records r.db --out o 2> err.txt";
  EXPECT_EQ(run_in_shell("cd '" + folder_.path().string() + "' && PATH=/none '" + program_ + tune), 1);
  EXPECT_EQ(read_text(folder_.path() / "err.txt"),
            "lathe: model.so cannot be linked: the C++ compiler 'c++' cannot be started: No such file or "
            "directory\n");
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "r.db"));
}

TEST_F(CliTest, WhatTuningCannotSearchWithIsNamed) {
  write_matmul();
  EXPECT_EQ(sentence("tune --workload w.json --scheduler luck --records r.db"),
            "lathe: there is no task scheduler 'luck'; legal names are gradient-patient, gradient, ucb, "
            "round-robin");
}

// The shell's own status for a process that SIGTERM ended.
constexpr int kEndedBySigterm = 128 + 15;

TEST_F(CliTest, ASignalEndsTuningWithWhatWasMeasured) {
  write_matmul();
  const std::string tune = "'" LATHE_BINARY_DIR
                           "/bin/lathe' tune --workload w.json --cores 1 --trials 1000000 --records r.db "
                           "--json r.json --out o > out.txt 2> err.txt < /dev/null & ";
  const std::string until_measured =
      "for i in $(seq 1200); do grep -q 'mm: [1-9]' err.txt && break; sleep 0.05; done; ";
  EXPECT_EQ(run_in_shell("cd '" + folder_.path().string() + "' || exit; " + tune + until_measured +
                         "kill -TERM $!; wait $!"),
            kEndedBySigterm);
  EXPECT_THAT(
      read_text(folder_.path() / "err.txt"),
      EndsWith("lathe: stopped by SIGTERM; what was measured is kept in r.db, and the same command goes "
               "on from there\n"));
  EXPECT_THAT(read_text(folder_.path() / "out.txt"), HasSubstr("\nmm "));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "r.json"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "o"));
  EXPECT_GE(nlohmann::json::parse(lathe("show r.db --json").out)[0]["trials"], 4);
}

TEST_F(CliTest, WhatCannotBeComparedIsWrittenWithAWord) {
  write("w.json",
        R"([{"name": "none", "op": "expression", "text": "C[i:9] = log(A[i]) + log(0.0 - A[i]) * 2.0"},
                      {"name": "all", "op": "expression", "text": "C[i:9] = A[i] < 0.5"}])");
  const Outcome compiled = lathe("compile --workload w.json --cores 1 --out o");
  EXPECT_EQ(compiled.status, 0);
  EXPECT_THAT(compiled.out, MatchesRegex("none: o/none, [^\n]* ms a run [^\n]*\nall: o/all, [^\n]*\n"));
  EXPECT_THAT(
      compiled.err,
      EndsWith("\nlathe: none: kernels whose results were not all compared with a reference: 1 of 1 (none: "
               "output 'C' is infinite or no number for random inputs: programs cannot be compared)\n"));
  EXPECT_EQ(compiled.err.find("lathe: all"), std::string::npos);
}

TEST_F(CliTest, ResultsOfOtherTypesAreTuned) {
  write("w.json", R"([{"name": "b", "op": "expression", "text": "C[i:9, j:9] = A[i, j] < 0.5"},
                      {"name": "d", "op": "expression", "text": "input A[9] f64 C[i:9] = A[i] * 3.0"}])");
  const Outcome tuned = lathe("tune --workload w.json --cores 1 --trials 1 --records r.db --out o");
  EXPECT_EQ(tuned.status, 0) << tuned.err;
  EXPECT_THAT(tuned.out, ContainsRegex("\nb: o/b, [^\n]* ms a run [^\n]*\nd: o/d, "));
}

TEST_F(CliTest, WithoutTimeNothingIsFoundAndTheReasonSaysSo) {
  write_matmul();
  const Outcome tuned = lathe("tune --workload w.json --cores 1 --time 0 --records r.db");
  EXPECT_EQ(tuned.status, 1);
  EXPECT_THAT(tuned.err,
              HasSubstr("lathe: no valid program was found for mm (nothing was tried in the time given)\n"));
}

TEST_F(CliTest, WhatThereWasNoTimeToTryIsWrittenUntuned) {
  write_matmul();
  const Outcome tuned = lathe("tune --workload w.json --cores 1 --time 0 --records r.db --out o");
  EXPECT_EQ(tuned.status, 0) << tuned.err;
  EXPECT_THAT(tuned.err, HasSubstr("lathe: note: nothing was tried for 1 of 1 operators in the time given, "
                                   "which are written as `lathe compile` with these records writes them\n"));
  EXPECT_EQ(lathe("verify o/mm").status, 0);
}

// Comparisons and artifacts are still to come.
TEST_F(CliTest, TheTimeThatIsToldIsThatOfTrials) {
  write_matmul();
  const Outcome tuned = lathe("tune --workload w.json --cores 1 --trials 1 --records r.db --out o");
  EXPECT_EQ(tuned.status, 0) << tuned.err;
  EXPECT_THAT(tuned.err,
              ContainsRegex("mm: 1 trials, 0 failed, best [0-9.]+ us, about [0-9]+ s of trials left\n"));
  EXPECT_THAT(tuned.err, ContainsRegex("mm: the best programs once more, best [0-9.]+ us\n"));
}

TEST_F(CliTest, InOneFileMessagesComeBetweenLines) {
  write_matmul();
  const std::string tune =
      "'" LATHE_BINARY_DIR
      "/bin/lathe' tune --workload w.json --cores 1 --time 0 --records r.db > both.txt 2>&1";
  EXPECT_EQ(run_in_shell("cd '" + folder_.path().string() + "' && " + tune), 1);
  EXPECT_THAT(read_text(folder_.path() / "both.txt"),
              MatchesRegex("(.|\n)*\nmm [^\n]*\nlathe: no valid program was found for mm [^\n]*\n"));
}

}  // namespace
}  // namespace lathe
