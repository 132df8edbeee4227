#include "records/write_aside.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "base/temporary_folder.h"

namespace lathe {
namespace {

namespace fs = std::filesystem;

class WriteAside : public ::testing::Test {
 protected:
  // Writes a word, and remembers where it was asked to.
  Status write(const std::string& path) {
    asked_.push_back(path);
    std::ofstream(path) << "kept";
    return {};
  }
  Status refuse(const std::string& path) {
    asked_.push_back(path);
    for (const char* part : {"-wal", "-shm"}) std::ofstream(path + part) << "half";
    return fail(ErrorKind::io, "the disk is full");
  }
  std::string file(const std::string& name) const { return (folder_.path() / name).string(); }
  // A name that nobody else has in /tmp.
  static std::string own_name() { return fmt::format("lathe-aside-{}.db", getpid()); }

  TemporaryFolder folder_;
  std::vector<std::string> asked_;
};

TEST_F(WriteAside, LiesBesideTheFile) {
  const auto writer = [this](const std::string& path) { return write(path); };
  EXPECT_EQ(write_aside(file("r.db"), writer).value(), file("r.db.saved"));
  EXPECT_EQ(write_aside(file("r.db"), writer).value(), file("r.db.saved.2"));
  EXPECT_EQ(fs::file_size(file("r.db.saved")), 4U);
}

TEST_F(WriteAside, ElsewhereWhereItsFolderIsGone) {
  const std::string elsewhere = "/tmp/" + own_name() + ".saved";
  const Result<std::string> place =
      write_aside(file("none/" + own_name()), [this](const std::string& path) { return write(path); });
  ASSERT_TRUE(place.has_value()) << place.error().to_string();
  EXPECT_EQ(*place, elsewhere);
  EXPECT_EQ(asked_, std::vector<std::string>{elsewhere});
  EXPECT_TRUE(fs::remove(elsewhere));
}

TEST_F(WriteAside, ElsewhereWhereItCannotBeWrittenBesideIt) {
  const std::string elsewhere = "/tmp/" + own_name() + ".saved";
  const Result<std::string> place = write_aside(file(own_name()), [this](const std::string& path) {
    return asked_.empty() ? refuse(path) : write(path);
  });
  EXPECT_EQ(place.value_or(""), elsewhere);
  EXPECT_TRUE(fs::is_empty(folder_.path())) << "half a file is left";
  EXPECT_TRUE(fs::remove(elsewhere));
}

TEST_F(WriteAside, TheErrorIsThatOfThePlaceBesideTheFile) {
  const Result<std::string> place =
      write_aside(file(own_name()), [this](const std::string& path) { return refuse(path); });
  ASSERT_FALSE(place.has_value());
  EXPECT_EQ(place.error().kind, ErrorKind::io);
  EXPECT_EQ(place.error().to_string(), file(own_name()) + ".saved: the disk is full");
  ASSERT_EQ(asked_.size(), 2U);
  for (const std::string& path : asked_) {
    for (const char* part : {"", "-wal", "-shm"}) EXPECT_FALSE(fs::exists(path + part)) << path << part;
  }
}

}  // namespace
}  // namespace lathe
