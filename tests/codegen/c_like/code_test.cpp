#include "codegen/c_like/code.h"

#include <gtest/gtest.h>

namespace lathe {
namespace {

using c_like::Code;

TEST(Code, BracesIndent) {
  Code code;
  EXPECT_TRUE(code.empty());
  code.open("if (a)");
  code.line("b;");
  code.open();
  EXPECT_EQ(code.depth(), 2);
  code.line("c;");
  code.close();
  code.close("} else {");
  EXPECT_EQ(code.text(), "if (a) {\n  b;\n  {\n    c;\n  }\n} else {\n");
  EXPECT_EQ(code.depth(), 0);
}

TEST(Code, PartsThatAreWrittenDeeperAreAppended) {
  Code outer(1), inner(2);
  inner.line("x;");
  outer.line("for (;;)");
  outer.append(inner.text());
  EXPECT_EQ(outer.text(), "  for (;;)\n    x;\n");
  EXPECT_FALSE(outer.empty());
}

}  // namespace
}  // namespace lathe
