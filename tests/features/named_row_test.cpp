#include "features/named_row.h"

#include <gtest/gtest.h>

namespace lathe {
namespace {

std::vector<float> filled(std::vector<std::string>* names) {
  NamedRow row(names);
  row.add("share", 0.5F);
  row.prefix("loop.");
  row.add_log("length", 7);
  row.add_log("missing", -3);
  row.add_kind("kind", std::array<const char*, 2>{"serial", "parallel"}, 1);
  return row.take();
}

TEST(NamedRow, EveryNumberHasItsName) {
  std::vector<std::string> names;
  EXPECT_EQ(filled(&names), (std::vector<float>{0.5F, 3, 0, 0, 1}));
  EXPECT_EQ(names, (std::vector<std::string>{"share", "loop.length", "loop.missing", "loop.kind=serial",
                                             "loop.kind=parallel"}));
}

TEST(NamedRow, NumbersAreTheSameWithoutNames) {
  std::vector<std::string> names;
  EXPECT_EQ(filled(nullptr), filled(&names));
}

}  // namespace
}  // namespace lathe
