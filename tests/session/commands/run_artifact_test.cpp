// An artifact on files: which array each file is, and what comes out.
#include "session/commands/run_artifact.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "artifact/artifact_fixture.h"

namespace lathe {
namespace {

namespace fs = std::filesystem;
using ::testing::StartsWith;

// An artifact of C[i] = A[i] * 10 + B[i] and D[i] = A[i] - B[i], with arrays for its inputs.
class RunArtifact : public ArtifactTest {
 protected:
  void SetUp() override {
    ArtifactTest::SetUp();
    if (IsSkipped()) return;
    const auto workloads = parse_workloads(
        R"([{"name": "s", "op": "expression", "text": "C[i:3] = A[i] * 10.0 + B[i]  D[i:3] = A[i] - B[i]"}])",
        "test");
    ASSERT_TRUE(workloads.has_value()) << workloads.error().to_string();
    write(compile_operator(workloads->front(), options_));
    write_array("a.npy", {1, 2, 3});
    write_array("b.npy", {4, 5, 6});
    request_.folder = folder();
    request_.repeat = 1;
  }

  void write_array(const std::string& name, const std::vector<float>& values) const {
    const Status written = write_npy(folder(name), array_of({static_cast<int64_t>(values.size())}, values));
    ASSERT_TRUE(written.has_value()) << written.error().to_string();
  }
  std::vector<float> values_in(const std::string& name) const {
    const Result<NpyArray> array = read_npy(folder(name));
    EXPECT_TRUE(array.has_value()) << array.error().to_string();
    return array ? floats(*array) : std::vector<float>();
  }
  // Files in the test's folder; "B=b.npy" stays named.
  RunRequest request(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) const {
    RunRequest asked = request_;
    const auto in_folder = [&](const std::string& text) {
      const size_t equals = text.find('=') == std::string::npos ? 0 : text.find('=') + 1;
      const std::string file = text.substr(equals);
      return text.substr(0, equals) + (file.empty() ? file : folder(file));
    };
    for (const std::string& text : inputs) asked.inputs.push_back(in_folder(text));
    for (const std::string& text : outputs) asked.outputs.push_back(in_folder(text));
    return asked;
  }
  static std::string refused(const RunRequest& request) {
    const Result<RunResult> result = run_artifact(request);
    EXPECT_FALSE(result.has_value());
    return result ? "" : result.error().to_string();
  }

  RunRequest request_;
};

TEST_F(RunArtifact, FilesWithoutNamesAreInOrder) {
  const Result<RunResult> result = run_artifact(request({"a.npy", "b.npy"}, {"c.npy", "d.npy"}));
  ASSERT_TRUE(result.has_value()) << result.error().to_string();
  EXPECT_EQ(values_in("c.npy"), (std::vector<float>{14, 25, 36}));
  EXPECT_EQ(values_in("d.npy"), (std::vector<float>{-3, -3, -3}));
  EXPECT_EQ(result->latency.samples, 1);
  EXPECT_TRUE(result->runs.empty());
}

TEST_F(RunArtifact, NamedFilesLeaveTheOthersInOrder) {
  ASSERT_TRUE(run_artifact(request({"B=a.npy", "b.npy"}, {"D=d.npy"})).has_value());
  EXPECT_EQ(values_in("d.npy"), (std::vector<float>{3, 3, 3}));
  EXPECT_FALSE(fs::exists(folder("c.npy")));
  ASSERT_TRUE(run_artifact(request({"b.npy", "A=a.npy"}, {"D=d.npy", "c.npy"})).has_value());
  EXPECT_EQ(values_in("c.npy"), (std::vector<float>{14, 25, 36}));
  EXPECT_EQ(values_in("d.npy"), (std::vector<float>{-3, -3, -3}));
}

// A name ends before the first '='; a path with one is a path where a folder comes first.
TEST_F(RunArtifact, APathMayHoldAnEqualsSign) {
  write_array("x=1.npy", {7, 8, 9});
  RunRequest asked = request({}, {"C=c=1.npy"});
  asked.inputs = {folder("x=1.npy"), "B=" + folder("x=1.npy")};
  ASSERT_TRUE(run_artifact(asked).has_value());
  EXPECT_EQ(values_in("c=1.npy"), (std::vector<float>{77, 88, 99}));
}

TEST_F(RunArtifact, OneFileMayBeReadTwice) {
  ASSERT_TRUE(run_artifact(request({"a.npy", "a.npy"}, {"c.npy"})).has_value());
  EXPECT_EQ(values_in("c.npy"), (std::vector<float>{11, 22, 33}));
}

TEST_F(RunArtifact, ANumberOfFilesThatDoesNotFitIsRefused) {
  EXPECT_EQ(refused(request({}, {})),
            "--input: the artifact has 2 inputs, 0 are given (--input X.npy for each, or --random)");
  EXPECT_EQ(refused(request({"a.npy"}, {})), "--input: the artifact has 2 inputs, 1 is given");
  EXPECT_EQ(refused(request({"a.npy", "a.npy", "a.npy"}, {})),
            "--input: the artifact has 2 inputs, 3 are given");
  EXPECT_EQ(refused(request({"a.npy", "b.npy"}, {"c", "d", "e"})),
            "--output: the artifact has 2 outputs, 3 are given");
}

TEST_F(RunArtifact, NamesThatDoNotFitAreRefused) {
  RunRequest unknown = request_;
  unknown.inputs = {"a.npy", "X=b.npy"};
  EXPECT_EQ(refused(unknown), "--input: the artifact has no input 'X'; it has A, B");
  unknown.inputs = {folder("a.npy"), folder("b.npy")};
  unknown.outputs = {"=c.npy"};
  EXPECT_EQ(refused(unknown), "--output: the artifact has no output ''; it has C, D");
  EXPECT_EQ(refused(request({"B=a.npy", "B=b.npy"}, {})), "--input: input 'B' is given twice");
  EXPECT_EQ(refused(request({"a.npy", "b.npy"}, {"D=c.npy", "D=d.npy"})),
            "--output: output 'D' is given twice");
  EXPECT_EQ(refused(request({"a.npy", "B="}, {})), "--input: no file is given for input 'B'");
  EXPECT_EQ(refused(request({"a.npy", "b.npy"}, {"C="})), "--output: no file is given for output 'C'");
}

TEST_F(RunArtifact, AFileThatIsNoSuchArrayIsNamed) {
  write_array("long.npy", {1, 2, 3, 4});
  EXPECT_EQ(refused(request({"a.npy", "long.npy"}, {})),
            folder("long.npy") + ": input 'B' must be f32[3], this is f32[4]");
  EXPECT_EQ(refused(request({"a.npy", "none.npy"}, {})),
            folder("none.npy") + ": there is no such file, or it cannot be read");
  std::ofstream(folder("text.npy")) << "no array";
  EXPECT_EQ(refused(request({"a.npy", "text.npy"}, {})), folder("text.npy") + ": this is not a .npy file");
}

TEST_F(RunArtifact, AnOutputIsNoneOfTheFilesThatAreRead) {
  const auto clash = [&](const std::string& one, const std::string& other) {
    return "--output " + folder(one) + " and " + other + " name the same file, which would be overwritten";
  };
  EXPECT_EQ(refused(request({"a.npy", "b.npy"}, {"a.npy"})), clash("a.npy", "--input " + folder("a.npy")));
  EXPECT_EQ(refused(request({"a.npy", "b.npy"}, {"model/model.so"})),
            clash("model/model.so", "DIR " + folder("model/model.so")));
  EXPECT_EQ(refused(request({"a.npy", "b.npy"}, {"c.npy", "C=./c.npy"})),
            clash("c.npy", "--output " + folder("./c.npy")));
  EXPECT_EQ(values_in("a.npy"), (std::vector<float>{1, 2, 3}));
  EXPECT_FALSE(fs::exists(folder("c.npy")));
}

TEST_F(RunArtifact, AnOutputThatCannotBeWrittenIsNamed) {
  EXPECT_THAT(refused(request({"a.npy", "b.npy"}, {"no/c.npy"})), StartsWith(folder("no/c.npy") + ": "));
}

TEST_F(RunArtifact, RandomInputsFollowTheSeedWhereNoFileIsGiven) {
  RunRequest random = request({}, {"c.npy"});
  random.random = true;
  ASSERT_TRUE(run_artifact(random).has_value());
  const std::vector<float> first = values_in("c.npy");
  random.seed = 1;
  ASSERT_TRUE(run_artifact(random).has_value());
  EXPECT_EQ(values_in("c.npy"), first);
  random.seed = 2;
  ASSERT_TRUE(run_artifact(random).has_value());
  EXPECT_NE(values_in("c.npy"), first);
  RunRequest given = request({"B=b.npy", "A=a.npy"}, {"c.npy"});
  given.random = true;
  ASSERT_TRUE(run_artifact(given).has_value());
  EXPECT_EQ(values_in("c.npy"), (std::vector<float>{14, 25, 36}));
}

TEST_F(RunArtifact, ASeedIsThatOfRandomInputs) {
  RunRequest seeded = request({"a.npy", "b.npy"}, {});
  seeded.seed = 1;
  EXPECT_EQ(refused(seeded), "--seed: the seed is that of --random, which is not given");
}

TEST_F(RunArtifact, SingleRunsAreTimedWhereTheyAreAskedFor) {
  RunRequest asked = request({"a.npy", "b.npy"}, {});
  asked.repeat = 3;
  asked.each_run = true;
  const Result<RunResult> result = run_artifact(asked);
  ASSERT_TRUE(result.has_value()) << result.error().to_string();
  EXPECT_EQ(result->latency.sampled.size(), 3U);
  EXPECT_EQ(result->runs.size(), static_cast<size_t>(3 * result->latency.runs));
}

TEST_F(RunArtifact, AFolderThatIsNoArtifactIsNamed) {
  request_.folder = folder("none");
  EXPECT_EQ(refused(request({"a.npy", "b.npy"}, {})), folder("none") + ": there is no such folder");
}

}  // namespace
}  // namespace lathe
