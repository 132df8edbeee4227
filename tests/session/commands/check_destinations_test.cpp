// What can be written at the end of a long command is asked before it, and leaves no trace.
#include "session/commands/check_destinations.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/child.h"
#include "cli/command_line.h"

namespace lathe {
namespace {

namespace fs = std::filesystem;

class Writable : public ::testing::Test {
 protected:
  // Others may look into it.
  void SetUp() override { fs::permissions(folder_.path(), fs::perms(0755)); }

  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(path(name)) << text; }
  static std::string sentence_of(const std::vector<std::string>& folders, const std::string& file = "") {
    const Status status = check_destinations(folders, file);
    return status ? "" : status.error().to_string();
  }
  // All that lies in the folder, with what is below.
  std::vector<std::string> left() const {
    std::vector<std::string> names;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder_.path()))
      names.push_back(fs::relative(entry.path(), folder_.path()).string());
    return names;
  }

  TemporaryFolder folder_;
};

TEST_F(Writable, NothingIsLeftOfWhatCanBeWritten) {
  EXPECT_EQ(sentence_of({path("o/deep/mm"), path("o/deep/conv"), path("o/deep/mm")}, path("r.json")), "");
  EXPECT_EQ(sentence_of({path("o/mm/")}, path("o/mm/r.json")), "");
  EXPECT_EQ(sentence_of({}, ""), "");
  EXPECT_EQ(left(), std::vector<std::string>());
}

TEST_F(Writable, WhatWasThereStays) {
  fs::create_directory(path("o"));
  write("o/notes.txt", "mine");
  write("r.json", "old");
  EXPECT_EQ(sentence_of({path("o")}, path("r.json")), "");
  EXPECT_EQ(read_text(path("o/notes.txt")), "mine");
  EXPECT_EQ(read_text(path("r.json")), "old");
  EXPECT_EQ(left().size(), 3U);
}

TEST_F(Writable, AFileInTheWayOfAFolderIsNamed) {
  write("o", "a file");
  fs::create_symlink("nowhere", path("dangling"));
  EXPECT_EQ(sentence_of({path("o")}),
            path("o") + ": the folder cannot be made: a file of this name is in the way");
  EXPECT_EQ(sentence_of({path("o/mm")}),
            path("o/mm") + ": the folder cannot be made: " + path("o") + " is a file");
  EXPECT_EQ(sentence_of({path("dangling")}), path("dangling") + ": the folder cannot be made: File exists");
  EXPECT_EQ(sentence_of({path(std::string(256, 'n'))}),
            path(std::string(256, 'n')) + ": the folder cannot be made: File name too long");
  EXPECT_EQ(read_text(path("o")), "a file");
}

// The first folder is made before the second turns out to be none.
TEST_F(Writable, NothingIsLeftOfWhatCannotBeWrittenEither) {
  write("file", "");
  EXPECT_EQ(sentence_of({path("new/a"), path("new/b"), path("file/c")}),
            path("file/c") + ": the folder cannot be made: " + path("file") + " is a file");
  EXPECT_EQ(sentence_of({path("new")}, path("none/r.json")),
            path("none/r.json") + ": the file cannot be written: No such file or directory");
  EXPECT_EQ(left(), std::vector<std::string>{"file"});
}

TEST_F(Writable, WhoMayNotWriteIsToldSo) {
  fs::create_directory(path("o"));
  write("r.json", "old");
  fs::permissions(path("r.json"), fs::perms(0444));
  fs::permissions(path("o"), fs::perms(0555));
  fs::permissions(folder_.path(), fs::perms(0555));
  const auto told = [&](const std::vector<std::string>& folders, const std::string& file) {
    return message_as_stranger([&] { return sentence_of(folders, file); });
  };
  EXPECT_EQ(told({path("o")}, ""), path("o") + ": the folder cannot be written: Permission denied");
  EXPECT_EQ(told({path("new/mm")}, ""), path("new/mm") + ": the folder cannot be made: Permission denied");
  EXPECT_EQ(told({}, path("r.json")), path("r.json") + ": the file cannot be written: Permission denied");
  EXPECT_EQ(told({}, path("o/new.json")),
            path("o/new.json") + ": the file cannot be written: Permission denied");
  fs::permissions(path("o"), fs::perms(0755));
  fs::permissions(folder_.path(), fs::perms(0755));
}

TEST_F(Writable, SomebodyElsesFileUnderAnArtifactsNameStays) {
  fs::create_directory(path("o"));
  write("o/weights.bin", "mine");
  EXPECT_EQ(sentence_of({path("new"), path("o")}),
            path("o/weights.bin") +
                ": the file is no artifact's, as no manifest.json of Lathe lies beside it, and would be "
                "replaced: give another folder, or remove it");
  EXPECT_FALSE(fs::exists(path("new")));
  // An artifact gives way to the next.
  write("o/manifest.json", R"({"format": 1})");
  EXPECT_EQ(sentence_of({path("o")}), "");
  fs::create_directory(path("o/model.h"));
  EXPECT_EQ(sentence_of({path("o")}), path("o/model.h") + ": a folder is in the way of the artifact's file");
}

TEST_F(Writable, AReportIsAFileOrADevice) {
  fs::create_directory(path("o"));
  EXPECT_EQ(sentence_of({}, path("o")), path("o") + ": the file cannot be written: Is a directory");
  EXPECT_EQ(sentence_of({}, "/dev/null"), "");
  // Nobody reads it yet: who opens it waits.
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(sentence_of({}, path("pipe")), "");
}

TEST_F(Writable, ALinkToNoFileYetStaysOne) {
  fs::create_symlink("later.json", path("link"));
  EXPECT_EQ(sentence_of({}, path("link")), "");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_FALSE(fs::exists(path("later.json")));
}

TEST_F(Writable, ALinkIsFollowedToTheReport) {
  write("r.json", "old");
  fs::create_symlink("r.json", path("link"));
  EXPECT_EQ(sentence_of({}, path("link")), "");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(read_text(path("r.json")), "old");
  fs::create_symlink("none/r.json", path("astray"));
  EXPECT_EQ(sentence_of({}, path("astray")),
            path("astray") + ": the file cannot be written: No such file or directory");
  EXPECT_TRUE(fs::is_symlink(path("astray")));
}

}  // namespace
}  // namespace lathe
