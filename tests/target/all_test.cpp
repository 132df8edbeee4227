#include "target/all.h"

#include <gtest/gtest.h>

#include <set>

#include "target/detect.h"

namespace lathe {
namespace {

TEST(AllTargets, EachRowIsItsTargets) {
  std::set<std::string_view> names;
  for (const TargetRow& row : all_targets()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(row.generic().name, row.name);
    EXPECT_EQ(row.generic().machine, "generic");
    EXPECT_EQ(cores_of(row.generic()), 1);
    EXPECT_EQ(generic_target(row.name), row.generic());
    const std::optional<Target> here = row.detect();
    if (!here) continue;
    EXPECT_EQ(here->name, row.name);
    EXPECT_EQ(here->kind.index(), row.generic().kind.index());
    EXPECT_NE(here->machine, "generic");
    EXPECT_EQ(row.detect(), here) << "detection is stable";
  }
}

TEST(AllTargets, OnlyWhatIsDetectedRunsHere) {
  for (const TargetRow& row : all_targets()) {
    const Status runs = check_runs_here(row.generic());
    EXPECT_EQ(runs.has_value(), row.detect().has_value());
    if (runs) continue;
    const Target native = detect_target().value();
    EXPECT_EQ(runs.error().to_string(), "this machine (" + native.machine + ") cannot run " +
                                            std::string(row.name) + ", it lacks " + std::string(row.needs) +
                                            "; it runs " + native.name);
  }
}

TEST(AllTargets, ExtensionsThatTheMachineLacksDoNotRunHere) {
  for (const TargetRow& row : all_targets()) {
    const std::optional<Target> here = row.detect();
    if (!here || !std::holds_alternative<CpuTarget>(here->kind)) continue;
    EXPECT_TRUE(check_runs_here(*here));
    for (const Extension& extension : kExtensions) {
      const Target wanted = with_extensions(*here, {std::string(extension.name)});
      if (wanted.cpu().extensions.empty() || here->cpu().has(extension.name)) continue;
      EXPECT_EQ(check_runs_here(wanted).error().to_string(),
                "this machine (" + here->machine + ") cannot run " + std::string(extension.name));
    }
  }
}

}  // namespace
}  // namespace lathe
