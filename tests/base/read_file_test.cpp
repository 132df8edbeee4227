#include "base/read_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "base/temporary_folder.h"

namespace lathe {
namespace {

TEST(ReadFile, GivesEveryByteAndNamesWhatIsNoFile) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "f").string();
  EXPECT_EQ(read_file(path).error().to_string(), path + ": there is no such file, or it cannot be read");
  EXPECT_EQ(read_file(folder.path().string()).error().to_string(),
            folder.path().string() + ": this is a folder, not a file");
  std::ofstream(path).flush();
  EXPECT_EQ(read_file(path).value(), "");
  const std::string bytes("a\0\r\n\xff", 5);
  std::ofstream(path, std::ios::binary) << bytes;
  EXPECT_EQ(read_file(path).value(), bytes);
}

TEST(ReadFile, ADeviceMayHaveNoEnd) {
  EXPECT_EQ(read_file("/dev/zero").error().to_string(),
            "/dev/zero: this is a device, which may have no end, and not a file");
}

TEST(ReadFile, APartIsNotTakenForTheWhole) {
  // It opens, and its first byte is nowhere.
  EXPECT_EQ(read_file("/proc/self/mem").error().to_string(), "/proc/self/mem: the file cannot be read");
}

TEST(ReadRegularFile, LeavesAloneWhatMayNotEnd) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "f").string();
  EXPECT_EQ(read_regular_file(path).error().to_string(),
            path + ": there is no such file, or it cannot be read");
  EXPECT_EQ(read_regular_file(folder.path().string()).error().to_string(),
            folder.path().string() + ": this is a folder, not a file");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(read_regular_file(path).error().to_string(),
            path + ": this is a pipe or a device, not a regular file");
  const std::string link = (folder.path() / "link").string();
  std::filesystem::create_symlink("/dev/zero", link);
  EXPECT_EQ(read_regular_file(link).error().to_string(),
            link + ": this is a pipe or a device, not a regular file");
  std::filesystem::remove(path);
  std::ofstream(path) << "text";
  EXPECT_EQ(read_regular_file(path).value(), "text");
}

}  // namespace
}  // namespace lathe
