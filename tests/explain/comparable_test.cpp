// Records that can be set side by side: of one processor and one version.
#include "explain/comparable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lathe {
namespace {

using ::testing::ElementsAre;

class SideBySide : public ::testing::Test {
 protected:
  void add(const std::string& machine, const std::string& version, bool works = true) {
    Record record;
    record.id = static_cast<int64_t>(records_.size()) + 1;
    record.machine = machine;
    record.compiler_version = version;
    if (!works) record.measurement = failed_measurement(ErrorKind::crash, "it ended");
    records_.push_back(record);
  }
  // The ids that are left for this processor and version.
  std::vector<int64_t> left(const std::string& machine, const std::string& version) {
    const Comparable compared = comparable(records_, machine, version);
    EXPECT_EQ(compared.records.size() + compared.left_aside, records_.size());
    std::vector<int64_t> ids;
    for (const Record& record : compared.records) ids.push_back(record.id);
    return ids;
  }

  std::vector<Record> records_;
};

TEST_F(SideBySide, OfNothingThereIsNothing) { EXPECT_THAT(left("here", "2"), ElementsAre()); }

TEST_F(SideBySide, FailuresOfTheSameStayAndOthersGo) {
  add("here", "2", false);
  add("here", "2");
  add("here", "1");
  add("there", "2");
  add("here", "2", false);
  EXPECT_THAT(left("here", "2"), ElementsAre(1, 2, 5));
}

// Failures of this one say nothing of how fast the others' program is here.
TEST_F(SideBySide, WhereNothingOfThisOneWorksTheLastThatDoesIsFollowed) {
  add("there", "1");
  add("there", "2");
  add("there", "2", false);
  add("here", "2", false);
  EXPECT_THAT(left("here", "2"), ElementsAre(2, 3));
  EXPECT_THAT(left("there", "1"), ElementsAre(1));
}

TEST_F(SideBySide, BothHaveToAgree) {
  add("here", "1");
  add("there", "2");
  EXPECT_THAT(left("here", "2"), ElementsAre(2));
  EXPECT_THAT(left("here", "1"), ElementsAre(1));
}

TEST_F(SideBySide, WhereNoneWorksAllAreLeft) {
  add("here", "2", false);
  add("there", "1", false);
  EXPECT_THAT(left("here", "2"), ElementsAre(1, 2));
}

}  // namespace
}  // namespace lathe
