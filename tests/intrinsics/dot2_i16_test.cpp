// i16 times i16, two together.
#include <gtest/gtest.h>

#include "intrinsics/all.h"
#include "intrinsics/block_checker.h"
#include "target/all.h"
#include "target/detect.h"

namespace lathe::testing {
namespace {

std::vector<Target> targets() {
  std::vector<Target> all{generic_target("x86-avx2"), detect_target().value()};
  if (detect_target().value().name == "x86-avx512") all.push_back(generic_target("x86-avx512"));
  return all;
}

TEST(Dot2I16, IsExactInEveryForm) {
  const FactorValues values{{-32768, 32767, -1, 0, 1, 255, 300}, {-32768, 127, -1, 32767, 1, -128, 0, 9}};
  for (const Target& target : targets()) {
    for (const int lanes : {1, 3, 4, 8, 16}) run_block(dot2_i16(), target, lanes, 5, values);
  }
}

// The one sum of two products that i32 does not hold.
TEST(Dot2I16, WrapsAround) {
  for (const Target& target : targets()) {
    EXPECT_EQ(run_block(dot2_i16(), target, 8, 1, {{-32768}, {-32768}}).front(), -2147483648.0);
    EXPECT_EQ(run_block(dot2_i16(), target, 8, 2, {{-32768}, {-32768}}).front(), 0);
  }
}

TEST(Dot2I16, IsOfEveryX86Target) {
  for (const char* name : {"x86-avx2", "x86-avx512"}) {
    const Target target = generic_target(name);
    ASSERT_NE(form_of(dot2_i16(), target, target.cpu().lanes(4)), nullptr);
    EXPECT_FALSE(form_of(dot2_i16(), target, target.cpu().lanes(4))->accumulates);
  }
  const Target vnni = with_extensions(generic_target("x86-avx512"), {"avx512_vnni"});
  EXPECT_TRUE(form_of(dot2_i16(), vnni, 16)->accumulates);
}

}  // namespace
}  // namespace lathe::testing
