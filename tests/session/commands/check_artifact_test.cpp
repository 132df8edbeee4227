// Whether an artifact is whole: what each of its files may have come to.
#include "session/commands/check_artifact.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "artifact/artifact_fixture.h"
#include "cli/command_line.h"

namespace lathe {
namespace {

namespace fs = std::filesystem;

class WholeArtifactTest : public ArtifactTest {
 protected:
  std::string said() const {
    const Result<WholeArtifact> artifact = check_artifact(folder());
    return artifact ? "whole" : artifact.error().to_string();
  }
  std::string file(const std::string& name) const { return folder() + "/" + name; }
  void overwrite(const std::string& name, const std::string& bytes) const {
    std::ofstream(file(name), std::ios::binary) << bytes;
  }
};

TEST_F(WholeArtifactTest, NameAndBuildAreTheManifests) {
  write_matmul();
  const Result<WholeArtifact> artifact = check_artifact(folder());
  ASSERT_TRUE(artifact.has_value()) << artifact.error().to_string();
  EXPECT_EQ(artifact->name, "mm");
  EXPECT_EQ(artifact->build, *read_manifest(folder())->build);
  EXPECT_EQ(artifact->build.size(), 16U);
}

TEST_F(WholeArtifactTest, EveryFileThatIsNotItsOwnIsNamed) {
  write_matmul();
  const std::string header = read_text(file("model.h"));
  overwrite("model.h", header + "\n");
  EXPECT_EQ(said(),
            file("model.h") + ": the file is damaged, or not the one that belongs to the manifest: it has " +
                std::to_string(header.size() + 1) + " bytes in place of " + std::to_string(header.size()));
  overwrite("model.h", header);
  const std::string weights = read_text(file("weights.bin"));
  overwrite("weights.bin", "short");
  EXPECT_EQ(said(), file("weights.bin") + ": this is not the weights of a model");
  overwrite("weights.bin", weights);
  EXPECT_EQ(said(), "whole");
  std::string manifest = read_text(file("manifest.json"));
  manifest.replace(manifest.find("\"mm\""), 4, "\"nn\"");
  overwrite("manifest.json", manifest);
  EXPECT_EQ(said(),
            file("manifest.json") + ": the manifest is damaged: it does not have the hash that it names");
}

TEST_F(WholeArtifactTest, FilesOfAnotherArtifactAreNotItsOwn) {
  write_matmul();
  const std::string name = "weights.bin";
  const std::string build = *read_manifest(folder())->build;
  fs::rename(folder(), folder("first"));
  const auto workloads =
      parse_workloads(R"([{"name": "other", "op": "expression", "text": "B[i:9] = A[i]"}])", "test");
  write(compile_operator(workloads->front(), options_));
  const std::string other = *read_manifest(folder())->build;
  fs::copy_file(folder("first") + "/" + name, file(name), fs::copy_options::overwrite_existing);
  EXPECT_EQ(said(), file(name) + ": the weights are those of 'mm', build " + build +
                        ", and the manifest is that of 'other', build " + other);
}

TEST_F(WholeArtifactTest, AFolderThatIsNoneIsRefused) {
  EXPECT_EQ(said(), folder() + ": there is no such folder");
  fs::create_directory(folder());
  EXPECT_EQ(said(), folder() + ": this is not an artifact, it has no manifest.json");
  overwrite("manifest.json", "[]");
  EXPECT_EQ(said(), file("manifest.json") + ": this is not the manifest of an artifact");
  fs::remove_all(folder());
  std::ofstream(folder()) << "text";
  EXPECT_EQ(said(), folder() + ": this is a file, and an artifact is a folder");
}

TEST_F(WholeArtifactTest, OneThatWasNotWrittenToItsEndIsRefused) {
  write_matmul();
  fs::remove(file("model.so"));
  EXPECT_EQ(
      said(),
      folder() + ": the artifact has no model.so: it was not written to its end, or a file was removed");
}

}  // namespace
}  // namespace lathe
