#include "session/commands/report_records.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "report/html_page.h"
#include "session/session_fixture.h"

namespace lathe {
namespace {

using ::testing::HasSubstr;

class ReportRecords : public SessionTest {
 protected:
  std::string reported() {
    return refusal_of(report_records({path("r.db"), bench_, path("r.html")}, teller()));
  }
  std::string page() const { return read_text(folder_.path() / "r.html"); }

  std::string bench_;
};

TEST_F(ReportRecords, PeaksAreMeasuredOfThisMachineAlone) {
  Record elsewhere = record("split C i [2]\n", 1e-3, /*free_layouts=*/true);
  elsewhere.machine = "another processor";
  append({record("split C i [2]\n", 1e-3), elsewhere});
  ASSERT_EQ(reported(), "");
  const HtmlPage shown(page());
  const nlohmann::json machines = nlohmann::json::parse(shown.island).at("machines");
  ASSERT_EQ(machines.size(), 2U);
  EXPECT_EQ(machines[0].at("machine"), target_.machine);
  EXPECT_GT(machines[0].at("peaks").at("gflops"), 0);
  EXPECT_TRUE(machines[1].at("peaks").is_null());
  EXPECT_THAT(shown.text, HasSubstr("another processor, " + target_.name +
                                    ", 1 core: its peaks cannot be measured here"));
}

TEST_F(ReportRecords, WithoutRecordsThereIsNothingToReport) {
  append({});
  EXPECT_EQ(reported(), path("r.db") + ": the file holds no records that could be reported");
  EXPECT_FALSE(std::filesystem::exists(path("r.html")));
}

TEST_F(ReportRecords, WhatIsDamagedIsNotedOnThePage) {
  append({record("split C i [2]\n", 1e-3), record("split C j [2]\n", 2e-3)});
  change_records("UPDATE records SET seconds = -1 WHERE id = 2");
  ASSERT_EQ(reported(), "");
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_THAT(told_[0], HasSubstr("1 record is damaged: record 2"));
  EXPECT_THAT(HtmlPage(page()).text, HasSubstr(told_[0]));
  change_records("UPDATE records SET seconds = -1");
  EXPECT_EQ(reported(), path("r.db") + ": the file holds no records that could be reported");
}

TEST_F(ReportRecords, TheBenchFileIsReadAndNeverWritten) {
  append({record("split C i [2]\n", 1e-3)});
  bench_ = path("missing.json");
  EXPECT_THAT(reported(), HasSubstr("missing.json"));
  write("b.json",
        R"([{"name": "mm", "target": "t", "cores": 1, "seconds": 1e-3, "peers": {"onednn": 2e-3}}])");
  bench_ = path("b.json");
  ASSERT_EQ(reported(), "");
  EXPECT_THAT(HtmlPage(page()).text, HasSubstr("Beside other libraries"));
  EXPECT_EQ(refusal_of(report_records({path("r.db"), bench_, bench_}, teller())),
            "--out " + bench_ + " and --bench " + bench_ + " name the same file, which would be overwritten");
}

}  // namespace
}  // namespace lathe
