// Operators and networks to artifacts: what is asked before, told meanwhile, and left behind.
#include "session/commands/compile_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "artifact/manifest.h"
#include "session/network_file.h"
#include "session/session_fixture.h"
#include "target/all.h"

namespace lathe {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class CompileSession : public SessionTest {
 protected:
  void SetUp() override {
    SessionTest::SetUp();
    request_.source = source();
    request_.out = path("o");
    request_.worker = worker_;
    listener_.rejected = teller();
    listener_.note = [this](const std::string& sentence) { notes_.push_back(sentence); };
    listener_.done = [this](size_t done, size_t count, const std::string& what) {
      done_.push_back(std::to_string(done) + "/" + std::to_string(count) + " " + what);
    };
    listener_.written = [this](const WrittenModel& model) { written_.push_back(model); };
  }

  std::string compiled() { return refusal_of(compile_artifacts(request_, listener_)); }
  // The model that a folder holds.
  std::string name_in(const std::string& folder) const {
    const Result<Manifest> manifest = read_manifest(path(folder));
    return manifest ? manifest->name : manifest.error().to_string();
  }
  void write_two() const {
    write_workload(R"({"name": "a", "op": "expression", "text": "B[i:9] = A[i]"},
                      {"name": "b", "op": "expression", "text": "B[i:9] = A[i] + 1.0"})");
  }
  ProgramSource network_source(const OnnxModel& model) const {
    ProgramSource source;
    source.model = model_file(folder_, model);
    source.cores = 1;
    return source;
  }

  CompileRequest request_;
  CompileListener listener_;
  std::vector<std::string> notes_;
  std::vector<std::string> done_;
  std::vector<WrittenModel> written_;
};

TEST_F(CompileSession, EachOperatorHasAFolderBelow) {
  write_two();
  EXPECT_EQ(compiled(), "");
  EXPECT_EQ(name_in("o/a"), "a");
  EXPECT_EQ(name_in("o/b"), "b");
  EXPECT_THAT(done_, ElementsAre("1/2 a", "2/2 b"));
  ASSERT_EQ(written_.size(), 2U);
  EXPECT_EQ(written_[1].folder, path("o/b"));
  EXPECT_TRUE(written_[1].time.has_value());
  EXPECT_THAT(told_, IsEmpty());
  EXPECT_THAT(notes_, IsEmpty());
}

TEST_F(CompileSession, AListenerMayLackEverything) {
  EXPECT_EQ(refusal_of(compile_artifacts(request_, {})), "");
  EXPECT_EQ(name_in("o/mm"), "mm");
}

TEST_F(CompileSession, OneModelMayHaveAnotherName) {
  request_.name = "mine";
  EXPECT_EQ(compiled(), "");
  EXPECT_EQ(name_in("o/mm"), "mine");
  EXPECT_EQ(written_[0].name, "mine");
  write_two();
  EXPECT_EQ(compiled(), "--name: one name is given, and 2 models are written");
  request_.name = "no name";
  request_.source.filter = "a";
  EXPECT_EQ(compiled(),
            "--name: 'no name' names no model: a name has letters, digits and underscores, at most 243");
  EXPECT_FALSE(fs::exists(path("o/a")));
}

TEST_F(CompileSession, RecordsGiveTheProgram) {
  append({record("split C i [2]\n", 1e-3), record("split C j [4]\n", 1e-9)});
  request_.records = path("r.db");
  EXPECT_EQ(compiled(), "");
  EXPECT_THAT(told_, IsEmpty());
  // Of another version nothing is taken, and that is said.
  change_records("UPDATE records SET compiler_version = '0.0'");
  EXPECT_EQ(compiled(), "");
  EXPECT_THAT(told_, ElementsAre("mm: kernels that " + path("r.db") +
                                 " has no usable program for, compiled untuned: 1 of 1"));
}

TEST_F(CompileSession, ARecordThatDoesNotApplyGivesWay) {
  append({record("split C i [2]\n", 1e-3), record("split C zzz [4]\n", 1e-9)});
  request_.records = path("r.db");
  EXPECT_EQ(compiled(), "");
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_THAT(told_[0],
              StartsWith("mm: the program of record 2 of " + path("r.db") +
                         " is not used, illegal_schedule: split C zzz [4]: block 'C' has no loop 'zzz'"));
}

TEST_F(CompileSession, DamagedRecordsAreANote) {
  append({record("split C i [2]\n", 1e-3), record("split C j [4]\n", 1e-9)});
  change_records("UPDATE records SET seconds = -1 WHERE id = 2");
  request_.records = path("r.db");
  EXPECT_EQ(compiled(), "");
  ASSERT_EQ(notes_.size(), 1U);
  EXPECT_THAT(notes_[0], StartsWith(path("r.db") + ": 1 record is damaged: record 2, "));
  EXPECT_THAT(told_, IsEmpty());
}

// No program meets it: the naive one is wrong too, and nothing is written.
TEST_F(CompileSession, AToleranceThatNothingMeetsLeavesNoArtifact) {
  request_.tolerance = 1e-12;
  const std::string refusal = compiled();
  EXPECT_THAT(refusal, StartsWith("mm: no program of it is right: C["));
  EXPECT_FALSE(fs::exists(path("o/mm/manifest.json")));
  EXPECT_THAT(written_, IsEmpty());
  EXPECT_THAT(done_, IsEmpty());
  // Nobody looks.
  request_.check = Checked::none;
  EXPECT_EQ(compiled(), "");
  EXPECT_EQ(name_in("o/mm"), "mm");
}

// The Error is the last one's; those before are told, and what is right is written.
TEST_F(CompileSession, OneThatFailsKeepsNoneOfTheOthersBack) {
  write_workload(R"({"name": "mm", "op": "expression", "text": "C[i:9, j:8] = sum(r:7) A[i,r] * B[r,j]"},
                    {"name": "ok", "op": "expression", "text": "B[i:9] = A[i]"},
                    {"name": "nn", "op": "expression", "text": "C[i:9, j:9] = sum(r:7) A[i,r] * B[r,j]"})");
  request_.tolerance = 1e-12;
  EXPECT_THAT(compiled(), StartsWith("nn: no program of it is right: C["));
  EXPECT_EQ(name_in("o/ok"), "ok");
  EXPECT_THAT(done_, ElementsAre("2/3 ok"));
  EXPECT_THAT(told_, ElementsAre(StartsWith("mm: the program of trial 0 is not used, wrong_result: C["),
                                 StartsWith("nn: the program of trial 0 is not used, wrong_result: C["),
                                 StartsWith("mm: no program of it is right: C[")));
}

TEST_F(CompileSession, NothingIsMadeWhereAFileWouldBeLost) {
  fs::create_directories(path("o/mm"));
  fs::rename(path("w.json"), path("o/mm/manifest.json"));
  request_.source.workload = path("o/mm/manifest.json");
  EXPECT_EQ(compiled(), "--out " + path("o/mm/manifest.json") + " and --workload " +
                            path("o/mm/manifest.json") + " name the same file, which would be overwritten");
  fs::rename(path("o/mm/manifest.json"), path("w.json"));
  request_.source.workload = path("w.json");
  write("o/mm/model.h", "mine");
  EXPECT_THAT(compiled(), StartsWith(path("o/mm/model.h") + ": the file is no artifact's, "));
  EXPECT_EQ(read_text(path("o/mm/model.h")), "mine");
}

TEST_F(CompileSession, WhatIsMissingIsNamed) {
  request_.records = path("none.db");
  EXPECT_EQ(compiled(), "there is no records file " + path("none.db"));
  request_.records = "";
  request_.worker = path("lathe-worker");
  EXPECT_EQ(compiled(),
            path("lathe-worker") + ": the program lathe-worker is missing, it belongs beside lathe");
  request_.source.workload = path("none.json");
  EXPECT_THAT(compiled(), StartsWith(path("none.json") + ": "));
  request_.source = {};
  EXPECT_EQ(compiled(), "nothing to work on: give MODEL.onnx or --workload FILE.json");
  request_.source = source();
  request_.source.target = "pdp11";
  EXPECT_THAT(compiled(), StartsWith("--target: "));
  EXPECT_FALSE(fs::exists(path("o")));
}

TEST_F(CompileSession, ForAnotherMachineNothingIsRun) {
  request_.source.target = foreign_target();
  request_.as_sources = true;
  request_.worker = "";
  EXPECT_EQ(compiled(), "");
  EXPECT_THAT(notes_, ElementsAre("this machine does not run " + request_.source.target +
                                  ": nothing is compared with a reference or timed"));
  ASSERT_EQ(written_.size(), 1U);
  EXPECT_FALSE(written_[0].time.has_value());
  EXPECT_TRUE(fs::exists(path("o/mm/kernel0.c")));
}

TEST_F(CompileSession, ANetworkIsOneArtifact) {
  request_.source = network_source(declared_otherwise(small_conv_model()));
  std::vector<std::string> work;
  listener_.work = [&](size_t, size_t count, const WorkState& state) {
    EXPECT_EQ(count, 1U);
    work.push_back(state.what);
  };
  EXPECT_EQ(compiled(), "");
  EXPECT_EQ(name_in("o"), "net");
  EXPECT_THAT(done_, ElementsAre("1/1 tasks compiled"));
  EXPECT_THAT(notes_, ElementsAre(path("net.onnx") + ": output 'y' is declared as f32[7], and what the model "
                                                     "computes is f32[1,4,5,5]"));
  EXPECT_EQ(work.back(), "net: the artifact is run");
  request_.name = "two names";
  EXPECT_THAT(compiled(), StartsWith("--name: 'two names' names no model"));
}

TEST_F(CompileSession, ANetworksFilesAreLeftAlone) {
  request_.source = network_source(small_conv_model());
  fs::rename(path("net.onnx"), path("weights.bin"));
  request_.source.model = path("weights.bin");
  request_.out = folder_.path().string();
  const std::string kept = read_text(path("weights.bin"));
  EXPECT_EQ(compiled(), "--out " + path("weights.bin") + " and MODEL " + path("weights.bin") +
                            " name the same file, which would be overwritten");
  EXPECT_EQ(read_text(path("weights.bin")), kept);
}

}  // namespace
}  // namespace lathe
