#include "base/write_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/temporary_folder.h"

namespace lathe {
namespace {

namespace fs = std::filesystem;

// While it lives, files of this process have at most so many bytes.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : signal_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, signal_);
  }

 private:
  void (*signal_)(int);
  rlimit before_ = {};
};

class WriteFile : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  std::string text(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(path(name)).rdbuf();
    return text.str();
  }

  ptrdiff_t files() const { return std::distance(fs::directory_iterator(folder_.path()), {}); }

  TemporaryFolder folder_;
};

TEST_F(WriteFile, WritesAllPartsAndReplacesWhatWasThere) {
  ASSERT_TRUE(write_file(path("a"), {"one, ", "", "two"}).has_value());
  EXPECT_EQ(text("a"), "one, two");
  ASSERT_TRUE(write_file(path("a"), {"3"}).has_value());
  EXPECT_EQ(text("a"), "3");
  EXPECT_EQ(files(), 1);
}

TEST_F(WriteFile, AWriteThatFailsLeavesWhatWasThere) {
  ASSERT_TRUE(write_file(path("old"), {"kept"}).has_value());
  const std::string large(100'000, 'x');
  for (const char* name : {"old", "new"}) {
    const FileSizeLimit limit(50'000);
    const Status status = write_file(path(name), {large});
    ASSERT_FALSE(status.has_value());
    EXPECT_EQ(status.error().to_string(), path(name) + ": the file cannot be written: File too large");
  }
  EXPECT_EQ(text("old"), "kept");
  EXPECT_EQ(files(), 1);
}

TEST_F(WriteFile, KeepsModeAndLinks) {
  ASSERT_TRUE(write_file(path("a"), {"old"}).has_value());
  fs::permissions(path("a"), fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("a", path("link"));
  ASSERT_TRUE(write_file(path("link"), {"new"}).has_value());
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(text("a"), "new");
  EXPECT_EQ(fs::status(path("a")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(WriteFile, DevicesAreWrittenAsTheyAre) {
  EXPECT_TRUE(write_file("/dev/null", {"gone"}).has_value());
  EXPECT_EQ(fs::status("/dev/null").type(), fs::file_type::character);
  EXPECT_EQ(write_file("/dev/full", {"no"}).error().to_string(),
            "/dev/full: the file cannot be written: No space left on device");
}

TEST_F(WriteFile, NamesWhatCannotBeWritten) {
  EXPECT_EQ(write_file(path("none/a"), {""}).error().to_string(),
            path("none/a") + ": the file cannot be written: No such file or directory");
  EXPECT_EQ(write_file(path("."), {""}).error().to_string(),
            path(".") + ": the file cannot be written: Is a directory");
}

TEST_F(WriteFile, AFileMayComeInParts) {
  Result<FileInParts> file = FileInParts::create(path("parts"), "the parts");
  ASSERT_TRUE(file.has_value());
  for (const char* part : {"....", "one ", "", "two"}) ASSERT_TRUE(file->add(part).has_value());
  ASSERT_TRUE(file->finish("head").has_value());
  EXPECT_EQ(text("parts"), "headone two");
}

TEST_F(WriteFile, APartThatCannotBeWrittenIsSaidOfTheFile) {
  EXPECT_EQ(FileInParts::create(path("none/a"), "its name").error().to_string(),
            "its name: the file cannot be written: No such file or directory");
  Result<FileInParts> file = FileInParts::create(path("large"), "its name");
  ASSERT_TRUE(file.has_value());
  const FileSizeLimit limit(50'000);
  ASSERT_TRUE(file->add(std::string(40'000, 'x')).has_value());
  EXPECT_EQ(file->add(std::string(40'000, 'x')).error().to_string(),
            "its name: the file cannot be written: File too large");
}

}  // namespace
}  // namespace lathe
