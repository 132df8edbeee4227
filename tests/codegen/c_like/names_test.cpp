#include "codegen/c_like/names.h"

#include <gtest/gtest.h>

namespace lathe {
namespace {

using c_like::Names;

TEST(Names, AreIdentifiers) {
  Names names({});
  EXPECT_EQ(names.fresh("A"), "A");
  EXPECT_EQ(names.fresh("i.0"), "i_0");
  EXPECT_EQ(names.fresh("a b-c"), "a_b_c");
  EXPECT_EQ(names.fresh("0x"), "v0x");
  EXPECT_EQ(names.fresh(""), "v");
  EXPECT_EQ(names.fresh("\xc3\xa9"), "__");
}

TEST(Names, OneThatIsTakenGetsANumber) {
  Names names({"float", "x_3"});
  EXPECT_EQ(names.fresh("float"), "float_2");
  EXPECT_EQ(names.fresh("float"), "float_3");
  EXPECT_EQ(names.fresh("x"), "x");
  EXPECT_EQ(names.fresh("x"), "x_2");
  EXPECT_EQ(names.fresh("x"), "x_4") << "x_3 is reserved";
  EXPECT_EQ(names.fresh("x.2"), "x_2_2") << "another wish for the same name";
}

TEST(Names, AnObjectKeepsItsName) {
  Names names({});
  const int first = 0, second = 0;
  EXPECT_EQ(names.of(&first, "t"), "t");
  EXPECT_EQ(names.of(&second, "t"), "t_2");
  EXPECT_EQ(names.of(&first, "something else"), "t");
  EXPECT_EQ(names.fresh("something else"), "something_else");
}

}  // namespace
}  // namespace lathe
