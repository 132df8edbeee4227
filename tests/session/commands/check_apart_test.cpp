// Which paths lead to one file, whether or not it is there yet.
#include "session/commands/check_apart.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/temporary_folder.h"

namespace lathe {
namespace {

namespace fs = std::filesystem;

class FilesApart : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  void write(const std::string& name) const { std::ofstream(path(name)) << "kept"; }
  void link(const std::string& name, const std::string& to) const {
    fs::create_symlink(to, folder_.path() / name);
  }

  // Whether the file may be written while the other is read.
  bool are_apart(const std::string& written, const std::string& other) const {
    return check_apart({"--json", path(written)}, std::vector<NamedFile>{{"--records", path(other)}})
        .has_value();
  }

  TemporaryFolder folder_;
};

TEST_F(FilesApart, TheErrorNamesBothAsTheyWereGiven) {
  write("r.db");
  const std::vector<NamedFile> others = {
      {"MODEL", path("m.onnx")}, {"--records", path("./r.db")}, {"--workload", path("r.db")}};
  const Status status = check_apart({"--json", path("r.db")}, others);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::invalid_argument);
  EXPECT_EQ(status.error().to_string(), "--json " + path("r.db") + " and --records " + path("./r.db") +
                                            " name the same file, which would be overwritten");
}

TEST_F(FilesApart, AnEmptyPathNamesNoFile) {
  EXPECT_TRUE(check_apart({"--json", ""}, std::vector<NamedFile>{{"--workload", ""}}));
  EXPECT_TRUE(check_apart({"--json", path("a")}, std::vector<NamedFile>{{"--workload", ""}}));
  EXPECT_TRUE(check_apart({"--json", path("a")}, {}));
}

TEST_F(FilesApart, AFileIsOneByWhateverPath) {
  write("r.db");
  fs::create_directories(path("sub/deep"));
  link("folder", "sub/deep");
  link("link", "r.db");
  link("second", "link");
  link("absolute", path("r.db"));
  fs::create_hard_link(path("r.db"), path("hard"));
  for (const char* name : {"r.db", "./r.db", "sub/../r.db", "sub//deep/../../r.db", "folder/../../r.db",
                           "link", "second", "absolute", "hard"}) {
    EXPECT_FALSE(are_apart(name, "r.db")) << name;
    EXPECT_FALSE(are_apart("r.db", name)) << name;
  }
  write("other.db");
  EXPECT_TRUE(are_apart("other.db", "r.db"));
  EXPECT_TRUE(are_apart("link", "other.db"));
}

// What is made first would be found by the other path.
TEST_F(FilesApart, AFileThatIsNotThereYetIsOneToo) {
  fs::create_directory(path("sub"));
  link("folder", "sub");
  link("dangling", "new.db");
  link("through", "folder/new.db");
  EXPECT_FALSE(are_apart("new.db", "./new.db"));
  EXPECT_FALSE(are_apart("missing/../new.db", "new.db"));
  EXPECT_FALSE(are_apart("dangling", "new.db"));
  EXPECT_FALSE(are_apart("new.db", "dangling"));
  EXPECT_FALSE(are_apart("through", "sub/new.db"));
  EXPECT_TRUE(are_apart("through", "new.db"));
  EXPECT_TRUE(are_apart("new.db", "newer.db"));
  EXPECT_FALSE(fs::exists(path("new.db")));
}

TEST_F(FilesApart, PathsFromTheWorkingFolderAreComparedWithWholeOnes) {
  const std::string here = (fs::current_path() / "lathe-no-such-file").string();
  const std::vector<NamedFile> others = {{"--records", "./lathe-no-such-file"}};
  EXPECT_FALSE(check_apart({"--json", here}, others));
  EXPECT_FALSE(check_apart({"--json", "lathe-no-such-file"}, others));
  EXPECT_TRUE(check_apart({"--json", here + "s"}, others));
}

TEST_F(FilesApart, WhatKeepsNothingMayBeGivenTwice) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  fs::create_directory(path("sub"));
  EXPECT_TRUE(are_apart("pipe", "pipe"));
  EXPECT_TRUE(are_apart("sub", "sub"));
  EXPECT_TRUE(check_apart({"--json", "/dev/null"}, std::vector<NamedFile>{{"--output", "/dev/null"}}));
}

TEST_F(FilesApart, LinksAreFollowedToWhereTheyEnd) {
  write("r.db");
  fs::create_directory(path("sub"));
  link("sub/up", "../r.db");
  link("first", "sub/up");
  link("gone", "missing/file");
  link("absolute", "/nowhere/file");
  EXPECT_EQ(end_of_links(path("r.db")), path("r.db"));
  EXPECT_EQ(end_of_links(path("no")), path("no"));
  EXPECT_EQ(end_of_links(path("first")), path("sub/../r.db"));
  EXPECT_EQ(end_of_links(path("gone")), path("missing/file"));
  EXPECT_EQ(end_of_links(path("absolute")), "/nowhere/file");
  EXPECT_EQ(end_of_links(""), "");
}

// The system opens none of them, and neither may looking for their end last for ever.
TEST_F(FilesApart, LinksInACircleHaveNoEnd) {
  link("a", "b");
  link("b", "a");
  EXPECT_NE(end_of_links(path("a")), "");
  EXPECT_TRUE(are_apart("a", "other"));
}

TEST_F(FilesApart, AnArtifactsFilesAreThoseThatItIsMadeOf) {
  std::vector<std::string> names;
  for (const NamedFile& file : artifact_files("DIR", "o/mm")) {
    EXPECT_EQ(file.option, "DIR");
    names.push_back(file.path);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"o/mm/manifest.json", "o/mm/weights.bin", "o/mm/model.h",
                                             "o/mm/model.so", "o/mm/kernel0.c"}));
  fs::create_directory(path("o"));
  link("model.onnx", "o/weights.bin");
  const Status status = check_artifact_apart(
      path("o"), std::vector<NamedFile>{{"--records", path("r.db")}, {"MODEL", path("model.onnx")}});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().to_string(), "--out " + path("o/weights.bin") + " and MODEL " +
                                            path("model.onnx") +
                                            " name the same file, which would be overwritten");
  EXPECT_TRUE(check_artifact_apart(path("o"), std::vector<NamedFile>{{"MODEL", path("o/model.onnx")}}));
}

// Writing an artifact removes the kernels of one that was written as C.
TEST_F(FilesApart, KernelsThatLieThereAreTheArtifactsToo) {
  fs::create_directory(path("o"));
  for (const char* name : {"o/kernel0.c", "o/kernel1.c", "o/kernel3.c"}) std::ofstream(path(name)) << "[]";
  const auto may_read = [&](const char* name) {
    return check_artifact_apart(path("o"), std::vector<NamedFile>{{"--workload", path(name)}}).has_value();
  };
  EXPECT_FALSE(may_read("o/kernel0.c"));
  EXPECT_FALSE(may_read("o/kernel1.c"));
  EXPECT_TRUE(may_read("o/kernel3.c"));  // there is no kernel2.c
}

}  // namespace
}  // namespace lathe
