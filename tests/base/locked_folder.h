// A file and an artifact's folder where nobody but root may look.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <string>

#include "base/child.h"
#include "base/result.h"
#include "base/temporary_folder.h"

namespace lathe {

class LockedFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(path("locked/artifact"));
    for (const char* name : {"locked/file", "file"}) std::ofstream(path(name)) << "text";
    std::filesystem::permissions(path("locked"), std::filesystem::perms::none);
  }
  void TearDown() override {
    std::filesystem::permissions(path("locked"), std::filesystem::perms::owner_all);
  }

  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  // Someone who may not look there is told so, not that there is nothing.
  void expect_refused(const std::string& name, const std::function<Error(std::string)>& error_of) const {
    EXPECT_EQ(message_as_stranger([&] { return error_of(path(name)).to_string(); }),
              path(name) + ": this cannot be read: Permission denied");
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace lathe
