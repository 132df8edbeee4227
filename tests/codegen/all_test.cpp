#include "codegen/all.h"

#include <gtest/gtest.h>

#include <set>

#include "target/all.h"

namespace lathe {
namespace {

TEST(AllBackends, EveryTargetHasOneThatEmitsModules) {
  for (const TargetRow& row : all_targets()) {
    const Target target = row.generic();
    const Result<const Backend*> emitter = find_emitter(target);
    ASSERT_TRUE(emitter.has_value()) << emitter.error().to_string();
    const bool is_processor = std::holds_alternative<CpuTarget>(target.kind);
    EXPECT_EQ((*emitter)->name, is_processor ? "llvm" : "opencl") << row.name;
    EXPECT_EQ((*emitter)->launches == nullptr, is_processor) << row.name;
  }
}

TEST(AllBackends, FormsOfTextAreFoundByName) {
  std::set<std::string_view> names;
  for (const Backend& backend : all_backends()) {
    for (const TextForm& form : backend.forms) {
      EXPECT_TRUE(names.insert(form.name).second) << form.name;
      for (const TargetRow& row : all_targets()) {
        const Target target = row.generic();
        const Result<const TextForm*> found = find_form(target, form.name);
        ASSERT_EQ(found.has_value(), backend.takes(target));
        if (!found) continue;
        EXPECT_EQ((*found)->name, form.name);
      }
    }
  }
  EXPECT_EQ(names, (std::set<std::string_view>{"asm", "c", "llvm", "opencl"}));
}

TEST(AllBackends, WhatTheyDoNotMakeIsASentence) {
  EXPECT_EQ(find_form(generic_target("x86-avx2"), "ptx").error().message,
            "no backend gives programs for the target 'x86-avx2' as 'ptx'");
  EXPECT_EQ(find_form(generic_target("opencl"), "asm").error().message,
            "no backend gives programs for the target 'opencl' as 'asm'");
}

}  // namespace
}  // namespace lathe
