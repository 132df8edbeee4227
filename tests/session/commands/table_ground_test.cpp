#include "session/commands/table_ground.h"

#include <gtest/gtest.h>

#include "session/commands/table_case.h"
#include "session/session_fixture.h"

namespace lathe {
namespace {

class TableGroundTest : public SessionTest {
 protected:
  TableGround ground() const { return TableGround::create(table_case(source(), 40)).value(); }
};

TEST_F(TableGroundTest, EveryLegalPointHasATraceAndRowsOfEachKind) {
  TableGround ground = this->ground();
  size_t legal = 0;
  for (size_t i = 0; i < ground.index().points().size(); ++i) {
    const bool is_legal = ground.table().entries[i].outcome == TableEntry::Outcome::measured;
    EXPECT_EQ(ground.trace(i).has_value(), is_legal);
    for (const FeatureKind kind : {FeatureKind::summary, FeatureKind::configuration, FeatureKind::loop_tree})
      EXPECT_EQ(ground.features(kind, ground.index().points()[i]).has_value(), is_legal);
    legal += is_legal ? 1 : 0;
  }
  EXPECT_GT(legal, 10U);
}

TEST_F(TableGroundTest, AConfigurationIsOfTheTablesOwnChoices) {
  TableGround ground = this->ground();
  const Point& first = ground.index().points().front();
  const Point& last = ground.index().points().back();
  EXPECT_NE(ground.features(FeatureKind::configuration, first)->numbers,
            ground.features(FeatureKind::configuration, last)->numbers);
}

}  // namespace
}  // namespace lathe
