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

TEST(AllSpaces, EveryRowDerivesASpaceForEveryProcessorAndTheDefaultForEveryTarget) {
  for (const SpaceKind& kind : space_kinds()) {
    for (const TargetRow& row : all_targets()) {
      Task task = small_task();
      task.target = row.generic();
      const bool is_processor = std::holds_alternative<CpuTarget>(task.target.kind);
      const Result<Space> space = derive_space(task, kind.name);
      if (kind.name != kDefaultSpace && !is_processor) {
        ASSERT_TRUE(space || space.error().kind == ErrorKind::unsupported) << kind.name << " " << row.name;
        continue;
      }
      ASSERT_TRUE(space) << kind.name << " " << row.name << ": " << space.error().to_string();
      EXPECT_FALSE(space->sketches().empty());
    }
  }
}

TEST(AllSpaces, WhatThereIsNotIsNamed) {
  EXPECT_EQ(derive_space(small_task(), "ansatz").error().to_string(),
            "there is no space 'ansatz'; legal names are lathe, autotvm, ansor, flextensor");
}

}  // namespace
}  // namespace lathe
