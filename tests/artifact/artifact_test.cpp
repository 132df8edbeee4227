#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "artifact/artifact_fixture.h"
#include "base/shell.h"
#include "folders.h"
#include "graph/onnx/models.h"
#include "graph/reference.h"
#include "tune/choose_trace.h"

namespace lathe {
namespace {

using ::testing::HasSubstr;

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
  EXPECT_THAT(
      gather({4, 2000000000, 2}).error().message,
      HasSubstr("input 1 ('s') holds 2000000000 as element 1: the model takes values from 0 to 4 there"));
  EXPECT_THAT(gather({-1, 0, 2}).error().message, HasSubstr("holds -1 as element 0"));
}

NpyArray tokens_of(const std::vector<int64_t>& tokens) {
  NpyArray array{DType::i64,
                 {1, static_cast<int64_t>(tokens.size())},
                 std::vector<std::byte>(tokens.size() * sizeof(int64_t))};
  std::memcpy(array.bytes.data(), tokens.data(), array.bytes.size());
  return array;
}

TEST_F(ArtifactTest, IndicesOf64BitsAreLookedAtToo) {
  const auto workloads = parse_workloads(
      R"([{"name": "g", "op": "expression", "text": "input A[5, 2] input s[1, 3] i64 O[i:3, j:2] = A[s[0, i], j] * 2.0"}])",
      "test");
  ASSERT_TRUE(workloads.has_value()) << workloads.error().to_string();
  write(compile_operator(workloads->front(), options_));
  auto artifact = LoadedArtifact::open(folder(), 1);
  ASSERT_TRUE(artifact.has_value()) << artifact.error().to_string();
  ASSERT_TRUE(artifact->set_input(0, array_of({5, 2}, random_floats(10, 1)), "A").has_value());
  ASSERT_TRUE(artifact->set_input(1, tokens_of({4, 1000000000000, 2}), "s").has_value());
  EXPECT_THAT(
      artifact->run().error().message,
      HasSubstr("input 1 ('s') holds 1000000000000 as element 1: the model takes values from 0 to 4 there"));
}

// Integers in, conditions between kernels, and places that only the caller knows.
TEST_F(ArtifactTest, ATransformerLooksItsWordsUp) {
  const OnnxModel onnx = small_bert_model();
  const std::string path = folder("bert.onnx");
  std::ofstream(path, std::ios::binary) << onnx.bytes();
  const auto network = load_network(path, {}, options_.target);
  ASSERT_TRUE(network.has_value()) << network.error().to_string();
  write(compile_network(*network, options_));
  auto artifact = LoadedArtifact::open(folder(), 1);
  ASSERT_TRUE(artifact.has_value()) << artifact.error().to_string();
  ASSERT_TRUE(artifact->set_input(0, tokens_of({3, 10, 1, -2, 0, 0}), "tokens").has_value());
  const Status run = artifact->run();
  ASSERT_TRUE(run.has_value()) << run.error().to_string();
  const Graph graph = import_onnx_bytes(onnx.bytes(), path).value();
  const std::vector<Values> inputs = {{{1, 6}, {3, 10, 1, -2, 0, 0}}};
  const Values expected = evaluate_graph(graph, inputs).value().front();
  const std::vector<float> y = floats(artifact->output(0));
  for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], expected.data[i], 1e-5) << i;
  ASSERT_TRUE(artifact->set_input(0, tokens_of({3, 11, 1, -2, 0, 0}), "tokens").has_value());
  EXPECT_THAT(
      artifact->run().error().message,
      HasSubstr("input 0 ('tokens') holds 11 as element 1: the model takes values from -11 to 10 there"));
}

TEST_F(ArtifactTest, LayoutsOfTheProgramStayInside) {
  auto records = RecordStore::open(folder("records.db"));
  ASSERT_TRUE(records.has_value());
  const auto workloads = parse_workloads(kMatmul, "test");
  const auto task = make_task(workloads->front(), options_.target, true);
  Record record = record_of(*task);
  record.trace = "layout A [1][0]\nlayout C [1/4][0][1%4]";
  record.measurement = measurement_of({1e-6});
  const auto id = records->append(record);
  ASSERT_TRUE(id.has_value());
  const auto fixed = make_task(workloads->front(), options_.target, false);
  const auto chosen = choose_trace(*fixed, &*records, FreeLayouts::if_faster);
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
      << R"({"format": 1, "inputs": [{"name": "A", "type": "f32", "shape": [-4, 8]}], "outputs": []})";
  EXPECT_EQ(LoadedArtifact::open(folder_.path().string(), 1).error().to_string(),
            folder_.path().string() +
                "/manifest.json: tensor 'A' has the shape [-4,8], and extents are at least 1");
}

TEST_F(ArtifactTest, FoldersThatAreNoArtifactAreRefused) {
  EXPECT_EQ(LoadedArtifact::open(folder("none"), 1).error().to_string(),
            folder("none") + ": there is no such folder");
  EXPECT_EQ(LoadedArtifact::open(folder_.path().string(), 1).error().to_string(),
            folder_.path().string() + ": this is not an artifact, it has no manifest.json");
  const std::string file = folder("file");
  std::ofstream(file) << "text";
  EXPECT_EQ(LoadedArtifact::open(file, 1).error().to_string(),
            file + ": this is a file, and an artifact is a folder");
  write_matmul();
  std::ofstream(folder() + "/weights.bin", std::ios::binary | std::ios::in | std::ios::out).write("other", 5);
  EXPECT_EQ(LoadedArtifact::open(folder(), 1).error().to_string(),
            folder() + ": " + folder() + "/weights.bin is not the weights of a model");
  std::ofstream(folder() + "/weights.bin", std::ios::binary) << "short";
  EXPECT_EQ(LoadedArtifact::open(folder(), 1).error().to_string(),
            folder() + ": the weights " + folder() + "/weights.bin have 5 bytes in place of 64");
}

// Sizes that no address space has, so that no machine gives them, whatever it promises.
TEST_F(ArtifactTest, MemoryThatTheMachineDoesNotGiveIsNamed) {
  const auto workloads = parse_workloads(kMatmul, "test");
  const auto matmul = compile_operator(workloads->front(), options_);
  ASSERT_TRUE(matmul.has_value()) << matmul.error().to_string();
  const auto refusal = [&](const Model& model, const std::string& name) {
    const Status written = write_artifact(model, folder(name), {.compiler_version = "test"});
    EXPECT_TRUE(written.has_value()) << written.error().to_string();
    const auto artifact = LoadedArtifact::open(folder(name), 1);
    return artifact.has_value() ? "it opens" : artifact.error().to_string();
  };
  Model model = *matmul;
  model.outputs[0].shape = {int64_t{1} << 30, int64_t{1} << 28};
  EXPECT_EQ(refusal(model, "a"),
            folder("a") + ": output 'C' takes 1.153 EB, which this machine does not give");
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they end the process over such a size
  model = *matmul;
  model.arena_bytes = int64_t{1} << 60;
  EXPECT_EQ(refusal(model, "c"), folder("c") +
                                     ": there is no memory left for what kernels hand to each other, "
                                     "1152921504606846976 bytes");
#endif
}

// The linker's words are divided by commas.
TEST_F(ArtifactTest, AnArtifactIsWrittenToAFolderWithACommaInItsName) {
  const auto workloads = parse_workloads(kMatmul, "test");
  const auto model = compile_operator(workloads->front(), options_);
  ASSERT_TRUE(model.has_value()) << model.error().to_string();
  const Status written = write_artifact(*model, folder() + "/a, b", {});
  EXPECT_TRUE(written.has_value()) << written.error().to_string();
  EXPECT_TRUE(LoadedArtifact::open(folder() + "/a, b", 0).has_value());
}

TEST_F(ArtifactTest, AUsersLinkThatLeadsNowhereStays) {
  const auto workloads = parse_workloads(kMatmul, "test");
  const auto model = compile_operator(workloads->front(), options_);
  ASSERT_TRUE(model.has_value()) << model.error().to_string();
  const std::string link = folder() + ".link";
  std::filesystem::create_symlink(folder() + "/none/at/all", link);
  EXPECT_FALSE(write_artifact(*model, link, {}).has_value());
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  std::filesystem::remove(link);
}

TEST_F(ArtifactTest, AMissingCompilerIsNamed) {
  const auto workloads = parse_workloads(kMatmul, "test");
  const auto model = compile_operator(workloads->front(), options_);
  ASSERT_TRUE(model.has_value()) << model.error().to_string();
  const Status written =
      write_artifact(*model, folder(), {.compiler = "no-such-compiler", .compiler_version = ""});
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(
      written.error().message,
      "model.so cannot be linked: the C++ compiler 'no-such-compiler' cannot be started: No such file or "
      "directory");
  EXPECT_FALSE(std::filesystem::exists(folder()));
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
  const auto network = load_network(folder("net.onnx"), {}, options_.target);
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
  const auto network = load_network(folder("net.onnx"), {}, options_.target);
  ASSERT_TRUE(network.has_value()) << network.error().to_string();
  const auto larger = compile_network(*network, options_);
  ASSERT_TRUE(larger.has_value()) << larger.error().to_string();
  ASSERT_GT(larger->kernels.size(), 2u);

  // What Lathe did not write stays: before there is an artifact, whatever its name.
  std::filesystem::create_directory(folder());
  std::ofstream(folder() + "/kernel0.c") << "mine";
  EXPECT_FALSE(write_artifact(*matmul, folder(), writing).has_value());
  EXPECT_TRUE(std::filesystem::remove(folder() + "/kernel0.c"));
  ASSERT_TRUE(write_artifact(*matmul, folder(), writing).has_value());
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
  EXPECT_EQ(left, 6) << "the four files of an artifact, its link, and notes.c";

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
  // A kernel cannot be removed: model.so is gone by then, the manifest is as it was.
  std::ofstream(folder() + "/kernel0.c") << "old";
  std::filesystem::create_directories(folder() + "/kernel1.c/taken");
  const Status written = write_c_sources(*matmul, folder(), {.compiler_version = "new"});
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().to_string(),
            folder() + "/kernel1.c: the file cannot be removed: Directory not empty");
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
