#include "records/free_path.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "base/temporary_folder.h"

namespace lathe {
namespace {

TEST(FreePath, TakesTheFirstNumberThatIsNew) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "r.db.saved").string();
  EXPECT_EQ(claim_free_path(path).value(), path);
  EXPECT_EQ(claim_free_path(path).value(), path + ".2");
  EXPECT_EQ(claim_free_path(path).value(), path + ".3");
  EXPECT_EQ(std::filesystem::file_size(path), 0U);
  // One that was freed again is taken again.
  std::filesystem::remove(path + ".2");
  EXPECT_EQ(claim_free_path(path).value(), path + ".2");
}

TEST(FreePath, WhatIsThereStaysWhateverItIs) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "name").string();
  std::filesystem::create_directory(path);
  std::filesystem::create_symlink("nowhere", path + ".2");
  std::ofstream(path + ".3") << "kept";
  EXPECT_EQ(claim_free_path(path).value(), path + ".4");
  EXPECT_EQ(std::filesystem::file_size(path + ".3"), 4U);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "nowhere"));
}

TEST(FreePath, AFolderThatIsMissingIsNamed) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "none/r.db").string();
  const Result<std::string> claimed = claim_free_path(path);
  ASSERT_FALSE(claimed.has_value());
  EXPECT_EQ(claimed.error().kind, ErrorKind::io);
  EXPECT_EQ(claimed.error().to_string(), path + ": No such file or directory");
}

// Looking for a free name and making it is one step.
TEST(FreePath, WhoeverAsksAtOnceGetsAnother) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "r").string();
  std::set<std::string> claimed;
  std::mutex guard;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&] {
        for (int i = 0; i < 25; ++i) {
          const std::string place = claim_free_path(path).value();
          const std::scoped_lock lock(guard);
          EXPECT_TRUE(claimed.insert(place).second) << place;
        }
      });
    }
  }
  EXPECT_EQ(claimed.size(), 100U);
}

}  // namespace
}  // namespace lathe
