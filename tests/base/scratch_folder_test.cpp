#include "base/scratch_folder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/child.h"
#include "base/temporary_folder.h"

namespace lathe {
namespace {

TEST(ScratchFolder, GoesWithItsOwnerAndLeavesTheParent) {
  const TemporaryFolder folder;
  const std::string parent = (folder.path() / "deep" / "parent").string();
  std::string file;
  {
    auto made = ScratchFolder::create(parent);
    ASSERT_TRUE(made.has_value()) << made.error().to_string();
    const ScratchFolder moved = std::move(*made);
    file = moved.at("file");
    std::ofstream(file) << "text";
    ASSERT_TRUE(std::filesystem::exists(file));
  }
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_TRUE(std::filesystem::is_empty(parent));
}

std::ptrdiff_t folders_in(const std::filesystem::path& path) {
  return std::distance(std::filesystem::directory_iterator(path), {});
}

TEST(ScratchFolder, IsRemovedByTheNextOnceItsProcessHasEnded) {
  const TemporaryFolder folder;
  const std::string parent = folder.path().string();
  const pid_t child = start_child([&]() -> int {
    const auto made = ScratchFolder::create(parent);
    if (made) std::ofstream(made->at("file")) << "text";
    _exit(made ? 0 : 1);
  });
  ASSERT_EQ(exit_status(child), 0);
  ASSERT_EQ(folders_in(parent), 1);
  const auto made = ScratchFolder::create(parent);
  ASSERT_TRUE(made);
  EXPECT_EQ(folders_in(parent), 1);
  EXPECT_TRUE(std::filesystem::exists(made->at("")));
}

TEST(ScratchFolder, StaysWhileItsProcessLives) {
  const TemporaryFolder folder;
  const std::string parent = folder.path().string();
  std::filesystem::create_directory(folder.path() / ".build-master");
  const auto ours = ScratchFolder::create(parent);
  ASSERT_TRUE(ours);
  const auto beside = ScratchFolder::create(parent);
  ASSERT_TRUE(beside);
  const pid_t child = start_child([&] {
    const auto made = ScratchFolder::create(parent);
    return made && folders_in(parent) == 4 ? 0 : 1;
  });
  EXPECT_EQ(exit_status(child), 0);
  EXPECT_TRUE(std::filesystem::exists(ours->at("")));
  EXPECT_TRUE(std::filesystem::exists(beside->at("")));
  EXPECT_TRUE(std::filesystem::exists(folder.path() / ".build-master"));
}

TEST(ScratchFolder, ManyProcessesDoNotTakeEachOthers) {
  const TemporaryFolder folder;
  const std::string parent = folder.path().string();
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    children.push_back(start_child([&] {
      for (int round = 0; round < 100; ++round) {
        const auto made = ScratchFolder::create(parent);
        if (!made || !(std::ofstream(made->at("file")) << "text").flush()) return 1;
        if (!std::filesystem::exists(made->at("file"))) return 1;
      }
      return 0;
    }));
  }
  for (const pid_t child : children) EXPECT_EQ(exit_status(child), 0);
  EXPECT_TRUE(std::filesystem::is_empty(parent));
}

TEST(ScratchFolder, NamesAParentThatCannotBeMade) {
  EXPECT_EQ(ScratchFolder::create("/dev/null/a").error().to_string(),
            "/dev/null/a: the folder cannot be made: /dev/null is a file");
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "file").string();
  std::ofstream(file) << "text";
  EXPECT_EQ(ScratchFolder::create(file).error().to_string(),
            fmt::format("{}: the folder cannot be made: a file of this name is in the way", file));
}

}  // namespace
}  // namespace lathe
