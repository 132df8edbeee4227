#include "base/scratch_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "records/sample_record.h"

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

TEST(ScratchFolder, NamesAParentThatCannotBeMade) {
  EXPECT_EQ(ScratchFolder::create("/dev/null/a").error().to_string(),
            "/dev/null/a: the folder cannot be made: Not a directory");
}

}  // namespace
}  // namespace lathe
