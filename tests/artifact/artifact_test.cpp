#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "artifact/compile_model.h"
#include "artifact/loaded_artifact.h"
#include "artifact/write_artifact.h"
#include "base/rng.h"
#include "base/shell.h"
#include "expr/parse.h"
#include "expr/print.h"
#include "graph/onnx_models.h"
#include "graph/reference.h"
#include "records/sample_record.h"
#include "records/task_text.h"
#include "target/detect.h"
#include "tune/choose_trace.h"
#include "tune/compiler_version.h"
#include "tune/in_process_runner.h"

namespace lathe {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kMatmul =
    R"([{"name": "mm", "op": "expression", "text": "C[i:19, j:21] = sum(r:17) A[i,r] * B[r,j]", "constants": ["B"]}])";

NpyArray array_of(std::vector<int64_t> shape, const std::vector<float>& values) {
  NpyArray array{DType::f32, std::move(shape), std::vector<std::byte>(values.size() * sizeof(float))};
  std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
  return array;
}

std::vector<float> floats(const NpyArray& array) {
  std::vector<float> values(array.bytes.size() / sizeof(float));
  std::memcpy(values.data(), array.bytes.data(), array.bytes.size());
  return values;
}

std::vector<float> random_floats(size_t count, uint64_t seed) {
  Rng rng(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(rng.uniform() * 2 - 1);
  return values;
}

class ArtifactTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!runs_some_target()) GTEST_SKIP() << "no target of Lathe's runs here";
    options_.target = detect_target();
    options_.cores = 2;
  }

  std::string folder(const std::string& name = "model") const { return (folder_.path() / name).string(); }

  void write(const Result<Model>& model) const {
    ASSERT_TRUE(model.has_value()) << model.error().to_string();
    const Status written = write_artifact(*model, folder(), {.compiler_version = "test"});
    ASSERT_TRUE(written.has_value()) << written.error().to_string();
  }

  void write_matmul(const RecordStore* records = nullptr) {
    const auto workloads = parse_workloads(kMatmul, "test");
    ASSERT_TRUE(workloads.has_value()) << workloads.error().to_string();
    options_.records = records;
    write(compile_operator(workloads->front(), options_));
  }

  // Of this machine, without a program yet.
  Record record_of(const Task& task) const {
    Record record;
    record.task = text_of(task);
    record.target = options_.target.name;
    record.cores = options_.cores;
    record.compiler_version = compiler_version();
    return record;
  }

  // Runs the matmul's artifact on these values and compares.
  static void check_matmul(LoadedArtifact& artifact, const std::vector<float>& a,
                           const std::vector<float>& b) {
    ASSERT_TRUE(artifact.set_input(0, array_of({19, 17}, a), "A").has_value());
    ASSERT_TRUE(artifact.set_input(1, array_of({17, 21}, b), "B").has_value());
    const Status run = artifact.run();
    ASSERT_TRUE(run.has_value()) << run.error().to_string();
    const std::vector<float> c = floats(artifact.output(0));
    for (size_t i = 0; i < 19; ++i) {
      for (size_t j = 0; j < 21; ++j) {
        double expected = 0;
        for (size_t r = 0; r < 17; ++r) expected += static_cast<double>(a[i * 17 + r]) * b[r * 21 + j];
        ASSERT_NEAR(c[i * 21 + j], expected, 1e-5) << i << ", " << j;
      }
    }
  }

  TemporaryFolder folder_;
  CompileModelOptions options_;
};

TEST_F(ArtifactTest, AnOperatorFollowsItsConstants) {
  write_matmul();
  auto artifact = LoadedArtifact::open(folder(), 0);
  ASSERT_TRUE(artifact.has_value()) << artifact.error().to_string();
  EXPECT_TRUE(artifact->inputs()[1].is_constant);
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    check_matmul(*artifact, random_floats(19 * 17, seed), random_floats(17 * 21, seed + 10));
  }
}

TEST_F(ArtifactTest, AnOperatorWithoutInputsRuns) {
  const auto workloads =
      parse_workloads(R"([{"name": "w", "op": "expression", "text": "o[i:3] = f32(i) * 2.0"}])", "test");
  ASSERT_TRUE(workloads.has_value()) << workloads.error().to_string();
  write(compile_operator(workloads->front(), options_));
  auto artifact = LoadedArtifact::open(folder(), 1);
  ASSERT_TRUE(artifact.has_value()) << artifact.error().to_string();
  const Status status = artifact->run();
  ASSERT_TRUE(status.has_value()) << status.error().to_string();
  EXPECT_EQ(floats(artifact->output(0)), (std::vector<float>{0, 2, 4}));
}

TEST_F(ArtifactTest, IndicesThatLeadOutsideAreRefused) {
  const auto workloads = parse_workloads(
      R"([{"name": "g", "op": "expression", "text": "input E[5, 2] input s[3] i32 O[i:3, d:2] = E[s[i], d]"}])",
      "test");
  ASSERT_TRUE(workloads.has_value()) << workloads.error().to_string();
  write(compile_operator(workloads->front(), options_));
  auto artifact = LoadedArtifact::open(folder(), 1);
  ASSERT_TRUE(artifact.has_value()) << artifact.error().to_string();
  const auto gather = [&](std::vector<int32_t> indices) {
    NpyArray array{DType::i32, {3}, std::vector<std::byte>(indices.size() * sizeof(int32_t))};
    std::memcpy(array.bytes.data(), indices.data(), array.bytes.size());
    EXPECT_TRUE(artifact->set_input(0, array_of({5, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), "E").has_value());
    EXPECT_TRUE(artifact->set_input(1, std::move(array), "s").has_value());
    return artifact->run();
  };
  ASSERT_TRUE(gather({4, 0, 2}).has_value());
  EXPECT_EQ(floats(artifact->output(0)), (std::vector<float>{8, 9, 0, 1, 4, 5}));
  EXPECT_THAT(gather({4, 2000000000, 2}).error().message,
              HasSubstr("input 1 ('s') holds 2000000000 as element 1: indices from 0 to 4 stay inside"));
  EXPECT_THAT(gather({-1, 0, 2}).error().message, HasSubstr("holds -1 as element 0"));
}

TEST_F(ArtifactTest, LayoutsOfTheProgramStayInside) {
  auto records = RecordStore::open(folder("records.db"));
  ASSERT_TRUE(records.has_value());
  const auto workloads = parse_workloads(kMatmul, "test");
  const auto task = make_task(workloads->front(), options_.target, options_.cores, true);
  Record record = record_of(*task);
  record.trace = "layout A [1][0]\nlayout C [1/4][0][1%4]";
  record.measurement = measurement_of({1e-6});
  const auto id = records->append(record);
  ASSERT_TRUE(id.has_value());
  const auto fixed = make_task(workloads->front(), options_.target, options_.cores, false);
  const auto chosen = choose_trace(*fixed, &*records);
  ASSERT_TRUE(chosen.has_value()) << chosen.error().to_string();
  EXPECT_EQ(chosen->record, *id);
  write_matmul(&*records);
  auto artifact = LoadedArtifact::open(folder(), 1);
  ASSERT_TRUE(artifact.has_value()) << artifact.error().to_string();
  check_matmul(*artifact, random_floats(19 * 17, 5), random_floats(17 * 21, 6));
  // Callers of the C sources lay tensors out themselves.
  const auto manifest = nlohmann::json::parse(std::ifstream(folder() + "/manifest.json"));
  EXPECT_EQ(manifest["inputs"][0]["layout"], "[1][0]");
  EXPECT_FALSE(manifest["inputs"][1].contains("layout"));
}

// Callers have row-major tensors: what a program with layouts of its own gains must pay for the conversions.
TEST_F(ArtifactTest, LayoutsOfTheProgramMustPay) {
  auto records = RecordStore::open(folder("records.db"));
  ASSERT_TRUE(records.has_value());
  const auto workloads = parse_workloads(kMatmul, "test");
  const auto append = [&](bool free_layouts, double seconds, const std::string& trace) {
    Record record = record_of(*make_task(workloads->front(), options_.target, options_.cores, free_layouts));
    record.trace = trace;
    record.measurement = measurement_of({seconds});
    return records->append(record).value();
  };
  const auto fixed = make_task(workloads->front(), options_.target, options_.cores, false);
  const auto chosen = [&](const std::set<int64_t>& just_tuned = {}) {
    return choose_trace(*fixed, &*records, {}, just_tuned)->record;
  };
  const int64_t slow = append(false, 1e-3, "split C i [2]");
  const int64_t free = append(true, 1e-5, "layout C [1/4][0][1%4]");
  EXPECT_EQ(chosen(), free);
  EXPECT_EQ(chosen({slow}), slow);
  // Faster than the fixed one's, and slower with 399 elements converted.
  const int64_t near = append(false, 1.01e-5, "split C i [4]");
  EXPECT_EQ(chosen(), near);
  EXPECT_EQ(chosen({free}), free);
  // Nothing is converted.
  const int64_t plain = append(true, 0.99e-5, "split C i [8]");
  EXPECT_EQ(chosen(), plain);
}

// Formulas that differ in names alone are one task; its traces speak of the names that came first.
TEST_F(ArtifactTest, RecordsUnderOtherNamesGiveTheProgramAndNotItsNames) {
  auto records = RecordStore::open(folder("records.db"));
  ASSERT_TRUE(records.has_value());
  const auto workloads = parse_workloads(kMatmul, "test");
  const auto task = make_task(workloads->front(), options_.target, options_.cores, false);
  const auto renamed = make_task("renamed", *parse_dag("Z[a:19, b:21] = sum(k:17) X[a,k] * Y[k,b]"),
                                 options_.target, options_.cores, {"Y"});
  ASSERT_TRUE(renamed.has_value()) << renamed.error().to_string();
  ASSERT_EQ(hash_of(*task), hash_of(*renamed));
  Record record = record_of(*renamed);
  record.trace = "split Z a [4]";
  record.measurement = measurement_of({1e-6});
  ASSERT_TRUE(records->append(record).has_value());
  const auto chosen = choose_trace(*task, &*records);
  ASSERT_TRUE(chosen.has_value()) << chosen.error().to_string();
  EXPECT_EQ(to_string(chosen->task.dag), record.task.dag);
  write_matmul(&*records);
  auto artifact = LoadedArtifact::open(folder(), 1);
  ASSERT_TRUE(artifact.has_value()) << artifact.error().to_string();
  EXPECT_EQ(artifact->inputs()[1].name, task->arguments[1].tensor->name);
  check_matmul(*artifact, random_floats(19 * 17, 5), random_floats(17 * 21, 6));
}

// Spoils one element of what these modules, told by their code, compute.
class SpoilingRunner : public testing::InProcessRunner {
 public:
  explicit SpoilingRunner(std::vector<std::string> objects) : objects_(std::move(objects)) {
    spoil = [this](const Module& module, const MeasureInputs&, const testing::Outputs& outputs) {
      if (std::ranges::find(objects_, module.object) != objects_.end()) testing::spoil_element(outputs, 0);
    };
  }

 private:
  std::vector<std::string> objects_;
};

TEST_F(ArtifactTest, AProgramThatIsWrongGivesWayToTheNextBest) {
  auto records = RecordStore::open(folder("records.db"));
  ASSERT_TRUE(records.has_value());
  const auto workloads = parse_workloads(kMatmul, "test");
  const auto task = make_task(workloads->front(), options_.target, options_.cores, false);
  Record record = record_of(*task);
  std::vector<std::string> objects;
  for (const char* trace : {"unroll C i", "unroll C j"}) {
    record.trace = trace;
    record.measurement = measurement_of({1e-6 * static_cast<double>(objects.size() + 1)});
    ASSERT_TRUE(records->append(record).has_value());
    const auto compiled = compile_task(*task, *parse_trace(trace), std::nullopt, 0);
    ASSERT_TRUE(compiled.has_value()) << compiled.error().to_string();
    objects.push_back(compiled->module.object);
  }
  options_.records = &*records;
  std::vector<std::string> rejected;
  options_.rejected = [&](const std::string& sentence) { rejected.push_back(sentence); };

  SpoilingRunner spoils_best({objects[0]});
  options_.runner = &spoils_best;
  const auto second = compile_operator(workloads->front(), options_);
  ASSERT_TRUE(second.has_value()) << second.error().to_string();
  EXPECT_EQ(second->kernels.front().record, 2);
  ASSERT_EQ(rejected.size(), 1u);
  EXPECT_THAT(rejected[0], HasSubstr("mm: the program of record 1 of " + records->path() +
                                     " is not used, wrong_result: C[0, 0] is 100"));

  SpoilingRunner spoils_both(objects);
  options_.runner = &spoils_both;
  const auto untuned = compile_operator(workloads->front(), options_);
  ASSERT_TRUE(untuned.has_value()) << untuned.error().to_string();
  EXPECT_FALSE(untuned->kernels.front().record.has_value());

  // A record that was compared before is taken as it is.
  options_.confirmed = {1};
  EXPECT_EQ(compile_operator(workloads->front(), options_)->kernels.front().record, 1);
}

TEST_F(ArtifactTest, WhatIsTakenWithoutBeingComparedSaysWhy) {
  const auto workloads = parse_workloads(
      R"([{"name": "n", "op": "expression", "text": "C[i:9] = log(A[i]) + log(0.0 - A[i]) * 2.0"},
          {"name": "b", "op": "expression", "text": "C[i:9] = A[i] < 0.5"}])",
      "test");
  ASSERT_TRUE(workloads.has_value()) << workloads.error().to_string();
  testing::InProcessRunner runner;
  options_.runner = &runner;
  const auto unknown = compile_operator(workloads->front(), options_);
  ASSERT_TRUE(unknown.has_value()) << unknown.error().to_string();
  EXPECT_EQ(unknown->kernels[0].uncompared,
            "output 'C' is infinite or no number for random inputs: programs cannot be compared");
  EXPECT_EQ(runner.runs, 0);
  const auto compared = compile_operator(workloads->back(), options_);
  ASSERT_TRUE(compared.has_value()) << compared.error().to_string();
  EXPECT_EQ(compared->kernels[0].uncompared, std::nullopt);
  EXPECT_EQ(runner.runs, 1);
}

TEST_F(ArtifactTest, AWrongBooleanIsRefused) {
  const auto workloads =
      parse_workloads(R"([{"name": "b", "op": "expression", "text": "C[i:9] = A[i] < 0.5"}])", "test");
  testing::InProcessRunner runner;
  runner.spoil = [](const Module&, const MeasureInputs&, const testing::Outputs& outputs) {
    outputs.front()[3] ^= std::byte{1};
  };
  options_.runner = &runner;
  const auto model = compile_operator(workloads->front(), options_);
  ASSERT_FALSE(model.has_value());
  EXPECT_THAT(model.error().message, StartsWith("no program of it is right: C[3] is "));
}

TEST_F(ArtifactTest, ARecordThatDoesNotApplyGivesWayToTheNextBest) {
  auto records = RecordStore::open(folder("records.db"));
  ASSERT_TRUE(records.has_value());
  const auto workloads = parse_workloads(kMatmul, "test");
  const auto task = make_task(workloads->front(), options_.target, options_.cores, false);
  Record record = record_of(*task);
  double seconds = 0;
  for (const char* trace : {"split C zzz [1]", "hello", "unroll C j"}) {
    record.trace = trace;
    record.measurement = measurement_of({seconds += 1e-6});
    ASSERT_TRUE(records->append(record).has_value());
  }
  options_.records = &*records;
  std::vector<std::string> rejected;
  options_.rejected = [&](const std::string& sentence) { rejected.push_back(sentence); };
  const auto model = compile_operator(workloads->front(), options_);
  ASSERT_TRUE(model.has_value()) << model.error().to_string();
  EXPECT_EQ(model->kernels.front().record, 3);
  const std::string file = records->path();
  ASSERT_EQ(rejected.size(), 2u);
  EXPECT_THAT(rejected[0], StartsWith("mm: the program of record 1 of " + file +
                                      " is not used, illegal_schedule: split C zzz [1]: block 'C' has no"));
  EXPECT_THAT(rejected[1],
              StartsWith("mm: the program of record 2 of " + file + " is not used, parse: trace:1:"));
}

TEST_F(ArtifactTest, InputsOfAnotherTypeOrShapeAreRefused) {
  write_matmul();
  auto artifact = LoadedArtifact::open(folder(), 1);
  ASSERT_TRUE(artifact.has_value());
  EXPECT_EQ(
      artifact->set_input(0, array_of({17, 19}, random_floats(17 * 19, 1)), "x.npy").error().to_string(),
      "x.npy: input 'A' must be f32[19,17], this is f32[17,19]");
  NpyArray wide{DType::f64, {19, 17}, std::vector<std::byte>(19 * 17 * 8)};
  EXPECT_EQ(artifact->set_input(0, wide, "x.npy").error().to_string(),
            "x.npy: input 'A' must be f32[19,17], this is f64[19,17]");
}

TEST_F(ArtifactTest, AManifestWithAnImpossibleShapeIsRefused) {
  std::ofstream(folder_.path() / "manifest.json")
      << R"({"inputs": [{"name": "A", "type": "f32", "shape": [-4, 8]}], "outputs": []})";
  EXPECT_EQ(LoadedArtifact::open(folder_.path().string(), 1).error().to_string(),
            folder_.path().string() +
                "/manifest.json: tensor 'A' has the shape [-4,8], and extents are at least 1");
}

TEST_F(ArtifactTest, FoldersThatAreNoArtifactAreRefused) {
  EXPECT_EQ(LoadedArtifact::open(folder("none"), 1).error().to_string(),
            folder("none") + ": there is no such folder");
  EXPECT_EQ(LoadedArtifact::open(folder_.path().string(), 1).error().to_string(),
            folder_.path().string() + ": this is not an artifact, it has no manifest.json");
  write_matmul();
  std::ofstream(folder() + "/weights.bin", std::ios::binary | std::ios::in | std::ios::out).write("other", 5);
  EXPECT_EQ(LoadedArtifact::open(folder(), 1).error().to_string(),
            folder() + ": the weights " + folder() + "/weights.bin belong to another build than model.so");
  std::ofstream(folder() + "/weights.bin", std::ios::binary) << "short";
  EXPECT_EQ(LoadedArtifact::open(folder(), 1).error().to_string(),
            folder() + ": the weights " + folder() + "/weights.bin have 5 bytes in place of 64");
}

TEST_F(ArtifactTest, AMissingCompilerIsNamed) {
  const auto workloads = parse_workloads(kMatmul, "test");
  const auto model = compile_operator(workloads->front(), options_);
  ASSERT_TRUE(model.has_value()) << model.error().to_string();
  const Status written =
      write_artifact(*model, folder(), {.compiler = "no-such-compiler", .compiler_version = ""});
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().message,
            "model.so cannot be linked: the program 'no-such-compiler' cannot be started: No such file or "
            "directory, which must be a C++ compiler with its libraries");
  EXPECT_TRUE(std::filesystem::is_empty(folder()));
}

// Two convolutions with a residual add between, a pooling, and a matrix product of what a Flatten gives.
OnnxModel residual_network() {
  OnnxModel model;
  model.input("x", {1, 3, 9, 9}).output("y").output("z");
  model.initializer("w1", {8, 3, 3, 3}).initializer("b1", {8}).initializer("w2", {8, 8, 3, 3});
  model.initializer("w3", {5, 8}).initializer("b3", {5});
  model.node("conv1", "Conv", {"x", "w1", "b1"}, "c1").attribute("pads", {1, 1, 1, 1});
  model.attribute("kernel_shape", {3, 3});
  model.node("relu1", "Relu", {"c1"}, "r1");
  model.node("conv2", "Conv", {"r1", "w2"}, "c2").attribute("pads", {1, 1, 1, 1});
  model.attribute("kernel_shape", {3, 3});
  model.node("add", "Add", {"c2", "r1"}, "a");
  model.node("relu2", "Relu", {"a"}, "z");
  model.node("pool", "GlobalAveragePool", {"z"}, "p");
  model.node("flatten", "Flatten", {"p"}, "f").attribute("axis", 1);
  model.node("fc", "Gemm", {"f", "w3", "b3"}, "y").attribute("transB", 1);
  return model;
}

void compare(const NpyArray& actual, const Values& expected) {
  EXPECT_EQ(actual.shape, expected.shape);
  const std::vector<float> values = floats(actual);
  ASSERT_EQ(values.size(), expected.data.size());
  double largest = 0;
  for (const double value : expected.data) largest = std::max(largest, std::abs(value));
  for (size_t i = 0; i < values.size(); ++i) ASSERT_NEAR(values[i], expected.data[i], 1e-5 * largest) << i;
}

TEST_F(ArtifactTest, ANetworkComputesWhatItsGraphMeans) {
  const OnnxModel onnx = residual_network();
  std::ofstream(folder("net.onnx"), std::ios::binary) << onnx.bytes();
  const auto network = load_network(folder("net.onnx"), {}, options_.target, options_.cores);
  ASSERT_TRUE(network.has_value()) << network.error().to_string();
  write(compile_network(*network, options_));
  auto artifact = LoadedArtifact::open(folder(), 2);
  ASSERT_TRUE(artifact.has_value()) << artifact.error().to_string();
  const auto graph = import_onnx_bytes(onnx.bytes(), "net.onnx");
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    const std::vector<float> x = random_floats(3 * 9 * 9, seed);
    ASSERT_TRUE(artifact->set_input(0, array_of({1, 3, 9, 9}, x), "x").has_value());
    ASSERT_TRUE(artifact->run().has_value());
    const std::vector<Values> inputs = {{{1, 3, 9, 9}, std::vector<double>(x.begin(), x.end())}};
    const auto expected = evaluate_graph(*graph, inputs);
    ASSERT_TRUE(expected.has_value());
    for (size_t i = 0; i < 2; ++i) compare(artifact->output(i), (*expected)[i]);
  }
}

TEST_F(ArtifactTest, AFolderHoldsOneArtifactOfOneForm) {
  const auto exists = [&](const char* name) { return std::filesystem::exists(folder() + "/" + name); };
  const WriteOptions writing{.compiler_version = "test"};
  const auto workloads = parse_workloads(kMatmul, "test");
  const auto matmul = compile_operator(workloads->front(), options_);
  ASSERT_TRUE(matmul.has_value()) << matmul.error().to_string();
  std::ofstream(folder("net.onnx"), std::ios::binary) << residual_network().bytes();
  const auto network = load_network(folder("net.onnx"), {}, options_.target, options_.cores);
  ASSERT_TRUE(network.has_value()) << network.error().to_string();
  const auto larger = compile_network(*network, options_);
  ASSERT_TRUE(larger.has_value()) << larger.error().to_string();
  ASSERT_GT(larger->kernels.size(), 2u);

  // What Lathe did not write stays: before there is an artifact, whatever its name.
  std::filesystem::create_directory(folder());
  std::ofstream(folder() + "/kernel0.c") << "mine";
  ASSERT_TRUE(write_artifact(*matmul, folder(), writing).has_value());
  EXPECT_TRUE(exists("kernel0.c"));
  std::ofstream(folder() + "/notes.c") << "mine";

  ASSERT_TRUE(write_c_sources(*larger, folder(), writing).has_value());
  EXPECT_FALSE(exists("model.so"));
  EXPECT_FALSE(exists("model.h"));
  EXPECT_TRUE(exists("kernel2.c"));
  EXPECT_EQ(
      LoadedArtifact::open(folder(), 1).error().to_string(),
      folder() +
          ": this artifact holds C sources in place of model.so: compile it without --emit c to run it");

  ASSERT_TRUE(write_c_sources(*matmul, folder(), writing).has_value());
  EXPECT_TRUE(exists("kernel0.c"));
  EXPECT_FALSE(exists("kernel1.c"));
  EXPECT_FALSE(exists("kernel2.c"));

  ASSERT_TRUE(write_artifact(*matmul, folder(), writing).has_value());
  EXPECT_FALSE(exists("kernel0.c"));
  EXPECT_TRUE(LoadedArtifact::open(folder(), 1).has_value());
  EXPECT_TRUE(exists("notes.c"));
  const auto left = std::distance(std::filesystem::directory_iterator(folder()), {});
  EXPECT_EQ(left, 5) << "the four files of an artifact, and notes.c";

  std::filesystem::remove(folder() + "/model.so");
  EXPECT_EQ(
      LoadedArtifact::open(folder(), 1).error().to_string(),
      folder() + ": the artifact has no model.so: it was not written to its end, or a file was removed");
}

// What runs goes first, and the manifest comes first: cut short anywhere, nothing is there to be run.
TEST_F(ArtifactTest, ARewriteThatIsCutShortLeavesNothingThatRuns) {
  const auto workloads = parse_workloads(kMatmul, "test");
  const auto matmul = compile_operator(workloads->front(), options_);
  ASSERT_TRUE(matmul.has_value()) << matmul.error().to_string();
  write(matmul);
  // The header cannot be removed: model.so is gone by then, all else is as it was.
  std::filesystem::remove(folder() + "/model.h");
  std::filesystem::create_directories(folder() + "/model.h/taken");
  const Status written = write_c_sources(*matmul, folder(), {.compiler_version = "new"});
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().to_string(),
            folder() + "/model.h: the file cannot be removed: Directory not empty");
  EXPECT_FALSE(std::filesystem::exists(folder() + "/model.so"));
  const auto manifest = nlohmann::json::parse(std::ifstream(folder() + "/manifest.json"));
  EXPECT_EQ(manifest["compiler_version"], "test");
}

// The example is C, and needs nothing of Lathe but the artifact.
TEST_F(ArtifactTest, TheExampleInCRuns) {
  const std::string examples = std::string(LATHE_SOURCE_DIR) + "/examples/";
  const auto workloads = load_workloads(examples + "01_matmul.json");
  ASSERT_TRUE(workloads.has_value()) << workloads.error().to_string();
  write(compile_operator(workloads->front(), options_));
  const std::string program = folder() + "/run_artifact";
  const std::string build = "cc -std=c99 -Wall -Wextra -Werror -I" + folder() + " " + examples +
                            "01_run_artifact.c " + folder() + "/model.so -Wl,-rpath," + folder() + " -o " +
                            program;
  ASSERT_EQ(run_in_shell(build), 0);
  EXPECT_EQ(run_in_shell(program + " " + folder() + " > " + program + ".txt"), 0);
  std::ifstream output(program + ".txt");
  std::string line;
  std::getline(output, line);
  EXPECT_EQ(line, "0 of 3072 elements are wrong");
}

}  // namespace
}  // namespace lathe
