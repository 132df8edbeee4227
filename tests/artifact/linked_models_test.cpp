// Artifacts as programs take them: linked, several at once, and with another's files.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "artifact/artifact_fixture.h"
#include "base/shell.h"
#include "folders.h"

namespace lathe {
namespace {

class LinkedModelsTest : public ArtifactTest {
 protected:
  // Writes the artifacts of a file of operators, one below the folder for each.
  void write_all(const std::string& path) {
    const auto workloads = load_workloads(path);
    ASSERT_TRUE(workloads.has_value()) << workloads.error().to_string();
    for (const Workload& workload : *workloads) {
      const auto model = compile_operator(workload, options_);
      ASSERT_TRUE(model.has_value()) << model.error().to_string();
      const Status written = write_artifact(*model, at(workload.name), {.compiler_version = "test"});
      ASSERT_TRUE(written.has_value()) << written.error().to_string();
    }
  }
  std::string at(const std::string& name) const { return folder() + "/" + name; }
  std::string line_of(const std::string& command) const {
    EXPECT_EQ(run_in_shell(command + " > " + folder("line.txt") + " 2>&1"), 0) << command;
    std::string line;
    std::ifstream file(folder("line.txt"));
    std::getline(file, line);
    return line;
  }
};

TEST_F(LinkedModelsTest, TheExampleOfTwoModelsRuns) {
  const std::string examples = std::string(LATHE_SOURCE_DIR) + "/examples/";
  write_all(examples + "04_two_models.json");
  // Headers in C++ too, in either order.
  std::ofstream(folder("both.cpp")) << "#include \"product/model.h\"\n#include \"positive/model.h\"\n"
                                       "int main() { return lathe_product_interface()->input_count - 2 + "
                                       "lathe_positive_interface()->input_count - 1; }\n";
  const std::string libraries = " -L" + at("product") + " -llathe_product -L" + at("positive") +
                                " -llathe_positive -Wl,-rpath," + at("product") + ",-rpath," + at("positive");
  const std::string flags = " -Wall -Wextra -Werror -I" + folder() + " -o " + folder("program") + " ";
  ASSERT_EQ(run_in_shell("c++ -std=c++11" + flags + folder("both.cpp") + libraries), 0);
  EXPECT_EQ(run_in_shell(folder("program")), 0);
  ASSERT_EQ(run_in_shell("cc -std=c99" + flags + examples + "04_two_models.c" + libraries), 0);
  EXPECT_EQ(line_of(folder("program") + " " + at("product") + " " + at("positive")),
            "0 of 384 elements are wrong");
  EXPECT_NE(run_in_shell(folder("program") + " " + at("positive") + " " + at("product") + " 2> " +
                         folder("error.txt")),
            0);
  std::string error;
  std::ifstream file(folder("error.txt"));
  std::getline(file, error);
  EXPECT_TRUE(
      error.starts_with("the weights " + at("positive") + "/weights.bin are those of 'positive', build "))
      << error;
  EXPECT_NE(error.find(", and the library is that of 'product', build "), std::string::npos) << error;
}

TEST_F(LinkedModelsTest, AFolderWithAnothersFilesIsRefused) {
  write_all(LATHE_SOURCE_DIR "/examples/04_two_models.json");
  const auto manifest = read_manifest(at("product"));
  ASSERT_TRUE(manifest.has_value()) << manifest.error().to_string();
  const auto other = read_manifest(at("positive"));
  ASSERT_TRUE(other.has_value()) << other.error().to_string();
  std::filesystem::copy_file(at("positive/weights.bin"), at("product/weights.bin"),
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(LoadedArtifact::open(at("product"), 1).error().to_string(),
            at("product") + ": the weights " + at("product") +
                "/weights.bin are those of 'positive', build " + *other->build +
                ", and the library is that of 'product', build " + *manifest->build);
}

// A name is taken over with its link; a file of somebody else's stays.
TEST_F(LinkedModelsTest, AFolderHasTheLinkOfItsModelAlone) {
  const auto workloads = parse_workloads(kMatmul, "test");
  auto model = compile_operator(workloads->front(), options_);
  ASSERT_TRUE(model.has_value()) << model.error().to_string();
  const auto exists = [&](const char* name) {
    return std::filesystem::exists(std::filesystem::symlink_status(at(name)));
  };
  write(model);
  EXPECT_TRUE(exists("liblathe_mm.so"));
  model->name = "a-b 3";
  write(model);
  EXPECT_FALSE(exists("liblathe_mm.so"));
  EXPECT_EQ(std::filesystem::read_symlink(at("liblathe_a_b_3.so")), "model.so");
  std::ofstream(at("liblathe_mine.so")) << "mine";
  model->name = "mine";
  const Status refused = write_artifact(*model, folder(), {});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().to_string(),
            at("liblathe_mine.so") + ": the link to model.so cannot be made: there is a file of its name");
  EXPECT_TRUE(exists("liblathe_a_b_3.so"));
}

// The runtime's own functions have other names than any model's, and a link's name has room for 243 bytes.
TEST_F(LinkedModelsTest, AnyNameCanBeLinked) {
  const auto workloads = parse_workloads(kMatmul, "test");
  auto model = compile_operator(workloads->front(), options_);
  ASSERT_TRUE(model.has_value()) << model.error().to_string();
  for (const std::string& name : {std::string("api"), std::string("thread_pool"),
                                  std::string("model_runtime"), std::string(260, 'x')}) {
    model->name = name;
    write(model);
    EXPECT_TRUE(LoadedArtifact::open(folder(), 1).has_value()) << name;
  }
  EXPECT_TRUE(std::filesystem::exists(at("liblathe_" + std::string(243, 'x') + ".so")));
}

}  // namespace
}  // namespace lathe
