#include "base/code_pages.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace lathe {
namespace {

// Of files that are mapped, code for the most part, the kilobytes that are in memory.
int64_t resident_of_files() {
  std::ifstream status("/proc/self/status");
  for (std::string key; status >> key;) {
    int64_t kilobytes = 0;
    if (key == "RssFile:" && status >> kilobytes) return kilobytes;
  }
  return -1;
}

TEST(CodePages, AreGivenBackAndComeAgain) {
  const int64_t before = resident_of_files();
  ASSERT_GT(before, 0);
  release_code_pages();
  EXPECT_LT(resident_of_files(), before);
}

}  // namespace
}  // namespace lathe
