#include "space/all.h"

#include <gtest/gtest.h>

#include <set>

#include "expr/parse.h"
#include "target/all.h"

namespace lathe {
namespace {

Task small_task() {
  return make_task("t", parse_dag("C[i:8, j:8] = sum(r:8) A[i,r] * B[r,j]").value(),
                   generic_target("x86-avx2"))
      .value();
}

TEST(AllSpaces, NamesAreUniqueAndTheDefaultIsTheFirst) {
  std::set<std::string_view> names;
  for (const SpaceKind& kind : space_kinds()) EXPECT_TRUE(names.insert(kind.name).second) << kind.name;
  EXPECT_EQ(space_kinds().front().name, kDefaultSpace);
}

TEST(AllSpaces, EveryRowDerivesASpace) {
  for (const SpaceKind& kind : space_kinds()) {
    const Result<Space> space = derive_space(small_task(), kind.name);
    ASSERT_TRUE(space) << space.error().to_string();
    EXPECT_FALSE(space->sketches().empty());
  }
}

TEST(AllSpaces, WhatThereIsNotIsNamed) {
  EXPECT_EQ(derive_space(small_task(), "ansatz").error().to_string(),
            "there is no space 'ansatz'; legal names are lathe");
  Task task = small_task();
  task.target = generic_target("opencl");
  const Result<Space> none = derive_space(task);
  EXPECT_EQ(none.error().kind, ErrorKind::unsupported);
  EXPECT_EQ(none.error().to_string(), "the space 'lathe' has no programs for the target 'opencl'");
}

}  // namespace
}  // namespace lathe
