// Artifacts for another processor than this machine's: made here, run under an emulator.
#include "artifact/write/cross_compiler.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "artifact/compile_model.h"
#include "artifact/open/loaded_artifact.h"
#include "artifact/open/verify_artifact.h"
#include "artifact/write/write_artifact.h"
#include "base/emulation.h"
#include "base/read_file.h"
#include "base/rng.h"
#include "base/shell.h"
#include "base/temporary_folder.h"
#include "graph/onnx/models.h"
#include "graph/reference.h"
#include "target/all.h"

namespace lathe {
namespace {

// Runs the network in its first argument's folder on what stdin holds, three times, the last to stdout.
constexpr const char* kProgram = R"(
#include <stdio.h>
#include "model.h"
static float input[3 * 9 * 9], output[10];
int main(int count, char** arguments) {
  lathe_model* model = lathe_open(arguments[1], 2);
  const void* inputs[] = {input};
  void* outputs[] = {output};
  if (model == NULL || fread(input, 1, sizeof input, stdin) != sizeof input) {
    fprintf(stderr, "%s\n", lathe_error());
    return 1;
  }
  for (int i = 0; i < 3; ++i)
    if (lathe_run(model, inputs, outputs) != 0) return 2;
  fwrite(output, 1, sizeof output, stdout);
  lathe_close(model);
  return 0;
}
)";

std::vector<float> random_floats(size_t count, uint64_t seed, double scale) {
  Rng rng(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>((rng.uniform() * 2 - 1) * scale);
  return values;
}

std::string small_network() {
  OnnxModel onnx;
  onnx.input("x", {1, 3, 9, 9}).output("y");
  onnx.initializer("w", {8, 3, 3, 3}, random_floats(216, 1, 0.5))
      .initializer("v", {10, 128}, random_floats(1280, 2, 0.2));
  onnx.node("conv", "Conv", {"x", "w"}, "c")
      .attribute("kernel_shape", {3, 3})
      .attribute("pads", {1, 1, 1, 1});
  onnx.node("relu", "Relu", {"c"}, "r");
  onnx.node("pool", "MaxPool", {"r"}, "p").attribute("kernel_shape", {2, 2}).attribute("strides", {2, 2});
  onnx.node("flat", "Flatten", {"p"}, "f");
  onnx.node("gemm", "Gemm", {"f", "v"}, "g").attribute("transB", 1);
  onnx.node("soft", "Softmax", {"g"}, "y");
  return onnx.bytes();
}

class CrossCompilerTest : public ::testing::Test {
 protected:
  std::string at(const std::string& name) const { return (folder_.path() / name).string(); }
  void SetUp() override {
    std::ofstream(at("net.onnx"), std::ios::binary) << small_network();
    options_.target = with_cores(generic_target("aarch64-neon"), 2);
    const auto network = load_network(at("net.onnx"), {}, options_.target);
    ASSERT_TRUE(network.has_value()) << network.error().to_string();
    const Result<Model> model = compile_network(*network, options_);
    ASSERT_TRUE(model.has_value()) << model.error().to_string();
    graph_ = network->graph;
    model_ = *model;
  }

  TemporaryFolder folder_;
  CompileModelOptions options_;
  Graph graph_;
  Model model_;
};

TEST_F(CrossCompilerTest, ANetworkForAnotherProcessorRunsThere) {
  const Emulation emulation = aarch64_emulation();
  if (const std::string missing = missing_of(emulation); !missing.empty()) GTEST_SKIP() << missing;
  const Status written = write_artifact(model_, at("net"), {.compiler_version = "test"});
  ASSERT_TRUE(written.has_value()) << written.error().to_string();
  std::ofstream(at("program.c")) << kProgram;
  ASSERT_EQ(run_in_shell(fmt::format("{0} -I{1} {2} -L{1} -l:model.so -Wl,-rpath,{1} -o {3}",
                                     emulation.compiler, at("net"), at("program.c"), at("program"))),
            0);
  const std::vector<float> input = random_floats(243, 3, 1);
  std::ofstream(at("in"), std::ios::binary)
      .write(reinterpret_cast<const char*>(input.data()), static_cast<std::streamsize>(input.size() * 4));
  ASSERT_EQ(run_in_shell(fmt::format("{} -L /usr/aarch64-linux-gnu {} {} < {} > {}", emulation.emulator,
                                     at("program"), at("net"), at("in"), at("out"))),
            0);
  const std::string out = read_file(at("out")).value();
  ASSERT_EQ(out.size(), 10 * sizeof(float));
  const auto expected =
      evaluate_graph(graph_, std::vector<Values>{{{1, 3, 9, 9}, {input.begin(), input.end()}}});
  ASSERT_TRUE(expected.has_value()) << expected.error().to_string();
  for (size_t i = 0; i < 10; ++i) {
    float value = 0;
    std::memcpy(&value, out.data() + i * sizeof value, sizeof value);
    EXPECT_NEAR(value, expected->front().data[i], 1e-5) << i;
  }
}

TEST_F(CrossCompilerTest, ALibraryForAnotherProcessorIsVerifiedButNotLoaded) {
  if (const std::string missing = missing_of(aarch64_emulation()); !missing.empty()) GTEST_SKIP() << missing;
  const Status written = write_artifact(model_, at("net"), {.compiler_version = "test"});
  ASSERT_TRUE(written.has_value()) << written.error().to_string();
  EXPECT_TRUE(verify_artifact(at("net")).has_value());
  EXPECT_EQ(LoadedArtifact::open(at("net"), 1).error().message,
            "the model was compiled for aarch64-neon, which is not this machine's architecture");
  std::ofstream(at("net/model.so"), std::ios::binary | std::ios::in).seekp(100).put('!');
  EXPECT_FALSE(verify_artifact(at("net")).has_value());
}

TEST_F(CrossCompilerTest, WhereTheCompilerIsMissingASentenceNamesItsPackage) {
  const std::string path = std::getenv("PATH");
  setenv("PATH", "/nowhere", 1);
  const Status written = write_artifact(model_, at("net"), {.compiler_version = "test"});
  setenv("PATH", path.c_str(), 1);
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().to_string(),
            "model.so for aarch64-neon cannot be linked: there is no aarch64-linux-gnu-g++, which Debian's "
            "package g++-aarch64-linux-gnu has");
  EXPECT_FALSE(std::filesystem::exists(at("net")));
}

TEST(FindCrossCompiler, KnowsNoneForThisMachine) {
  EXPECT_EQ(find_cross_compiler("x86-avx2"), nullptr);
  EXPECT_EQ(find_cross_compiler("aarch64-neon")->command, "aarch64-linux-gnu-g++");
}

}  // namespace
}  // namespace lathe
