// Which files a program's source reads, and which machines it is for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "session/program_source.h"
#include "session/session_fixture.h"

namespace lathe {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

using ProgramFiles = SessionTest;

std::vector<std::string> with_options(const std::vector<NamedFile>& files) {
  std::vector<std::string> texts;
  for (const NamedFile& file : files) texts.push_back(file.option + " " + file.path);
  return texts;
}

// SQLite's log lies beside the file to which links lead.
TEST_F(ProgramFiles, TheRecordsLogIsFoundThroughALink) {
  std::filesystem::create_directory(path("deep"));
  std::filesystem::create_symlink("deep/r.db", path("link.db"));
  ProgramSource network;
  network.model = "m.onnx";
  EXPECT_THAT(with_options(files_read(network, path("link.db"))),
              ElementsAre("MODEL m.onnx", "--workload ", "--records " + path("link.db"),
                          "--records " + path("deep/r.db-wal"), "--records " + path("deep/r.db-shm")));
}

TEST_F(ProgramFiles, AModelsDataAreFilesOfItsOwn) {
  Graph graph;
  EXPECT_THAT(with_options(data_files(graph)), ElementsAre());
  graph.data_files = {"a/w.bin", "b.bin"};
  EXPECT_THAT(with_options(data_files(graph)),
              ElementsAre("the model's data a/w.bin", "the model's data b.bin"));
}

TEST_F(ProgramFiles, AWorkloadInTheModelsPlaceIsRecognized) {
  ProgramSource wrong;
  wrong.model = "w.json";
  const Status status = check_source(wrong);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().kind, ErrorKind::invalid_argument);
  EXPECT_EQ(status.error().to_string(),
            "w.json: a file of operators is given by --workload: --workload w.json");
  // Of both it is said that they are two.
  wrong.workload = "v.json";
  EXPECT_EQ(refusal_of(check_source(wrong)),
            "give either a model or --workload, not both: 'w.json' and 'v.json'");
}

TEST_F(ProgramFiles, CoresTakeThePlaceOfTheTargets) {
  ProgramSource asked;
  EXPECT_EQ(cores_of(target_of(asked).value()), static_cast<int>(allowed_cpus().size()));
  asked.cores = 1;
  EXPECT_EQ(target_of(asked).value(), target_);
  EXPECT_EQ(target_here(asked).value(), target_);
  asked.target = print(target_);
  asked.cores = 0;
  EXPECT_EQ(target_of(asked).value(), target_);
  asked.cores = static_cast<int>(allowed_cpus().size()) + 1;
  const std::string refusal = "--cores: " + std::to_string(asked.cores) + " cores are more than the " +
                              std::to_string(allowed_cpus().size()) + " that this process may use";
  EXPECT_EQ(refusal_of(target_of(asked)), refusal);
  EXPECT_EQ(refusal_of(target_here(asked)), refusal);
}

// Whoever runs it may have as many.
TEST_F(ProgramFiles, ATargetThatIsNotHereMayHaveMoreCores) {
  ProgramSource asked;
  asked.target = foreign_target();
  asked.cores = 100'000;
  EXPECT_EQ(cores_of(target_of(asked).value()), 100'000);
  const Result<Target> here = target_here(asked);
  ASSERT_FALSE(here.has_value());
  EXPECT_EQ(here.error().kind, ErrorKind::unsupported);
  EXPECT_THAT(here.error().to_string(), StartsWith("--target: "));
}

// An error that knows its place within the text keeps it.
TEST_F(ProgramFiles, WhatIsWrongInATargetsTextIsNamed) {
  ProgramSource asked;
  asked.target = foreign_target() + " cores=many";
  EXPECT_EQ(refusal_of(target_of(asked)),
            "target:1:" + std::to_string(foreign_target().size() + 8) + ": expected an integer");
}

}  // namespace
}  // namespace lathe
