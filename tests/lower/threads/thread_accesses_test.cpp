// Which thread touches which element.
#include "lower/threads/thread_accesses.h"

#include <algorithm>

#include "lower/golden.h"

namespace lathe::testing {
namespace {

std::string stores_to(const std::string& index) {
  return "input A: f32[64] [0]\noutput C: f32[64] [0]\nmain {\n  threads t in 8 {\n    for v in 2 {\n      "
         "for r in 4 "
         "{\n        store C[" +
         index + "] = A[t]\n      }\n    }\n  }\n}\n";
}

bool has_one_owner(const std::string& index) {
  const Program program = parsed(stores_to(index));
  const std::vector<ThreadAccess> accesses = accesses_of(program.main, Known());
  std::vector<const ThreadAccess*> writes;
  for (const ThreadAccess& access : accesses) {
    if (access.is_write) writes.push_back(&access);
  }
  return have_one_owner(writes);
}

TEST(ThreadAccesses, AreReadsAndWritesWithTheirThreads) {
  const Program program = parsed(stores_to("4*t + r"));
  const std::vector<ThreadAccess> accesses = accesses_of(program.main, Known());
  ASSERT_EQ(accesses.size(), 2u);
  EXPECT_EQ(accesses[0].tensor->name, "A");
  EXPECT_FALSE(accesses[0].is_write);
  EXPECT_EQ(accesses[1].tensor->name, "C");
  EXPECT_TRUE(accesses[1].is_write);
  ASSERT_NE(accesses[1].threads, nullptr);
  EXPECT_EQ(accesses[1].threads->var.name(), "t");
}

TEST(ThreadAccesses, AnElementHasOneOwnerWhereDigitsAreUnique) {
  EXPECT_TRUE(has_one_owner("t"));
  EXPECT_TRUE(has_one_owner("4*t + r"));
  EXPECT_TRUE(has_one_owner("8*r + t"));
  EXPECT_TRUE(has_one_owner("32*v + 4*t + r"));
  EXPECT_TRUE(has_one_owner("32*(t/4) + 4*(t%4) + r"));
  EXPECT_FALSE(has_one_owner("3*t + r"));  // 3*1 + 0 and 3*0 + 3
  EXPECT_FALSE(has_one_owner("t + r"));
  EXPECT_FALSE(has_one_owner("4*(t/2) + r"));  // two threads alike
  EXPECT_FALSE(has_one_owner("r"));
  EXPECT_FALSE(has_one_owner("(t + r)/4"));
}

TEST(ThreadAccesses, AnIndexIsTheThreadsShareAndTheRest) {
  const Var t("t");
  const Var r("r");
  const Var any("any");
  const auto parts = parts_of(Affine(t) * 4 + modulo(Affine(t), 2) + Affine(r) + 1, t, any);
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->by_thread, Affine(any) * 4 + modulo(Affine(any), 2));
  EXPECT_EQ(parts->within, Affine(r) + 1);
  EXPECT_FALSE(parts_of(modulo(Affine(t) + Affine(r), 2), t, any));
}

}  // namespace
}  // namespace lathe::testing
