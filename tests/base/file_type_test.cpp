#include "base/file_type.h"

#include "base/locked_folder.h"

namespace lathe {
namespace {

namespace fs = std::filesystem;

class FileType : public LockedFolder {};

TEST_F(FileType, TellsWhatThereIsAndThatThereIsNothing) {
  EXPECT_EQ(file_type_of(path("file")), fs::file_type::regular);
  EXPECT_EQ(file_type_of(path("locked")), fs::file_type::directory);
  EXPECT_EQ(file_type_of(path("none")), fs::file_type::not_found);
  EXPECT_EQ(file_type_of(path("none/file")), fs::file_type::not_found);
  EXPECT_EQ(file_type_of(path("file/below")), fs::file_type::not_found);
}

TEST_F(FileType, WhereNobodyMayLookIsNotSaidToBeNothing) {
  expect_refused("locked/file", [](const std::string& at) { return file_type_of(at).error(); });
}

}  // namespace
}  // namespace lathe
