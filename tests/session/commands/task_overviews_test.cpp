#include "session/commands/task_overviews.h"

#include <gtest/gtest.h>

#include "session/session_fixture.h"

namespace lathe {
namespace {

class TaskOverviews : public SessionTest {};

TEST_F(TaskOverviews, AreWhatEachTasksOwnRecordsComeTo) {
  Record failed = failed_record(ErrorKind::crash, "it ended");
  append({record("split C i [2]\n", 4e-3), record("split C i [2]\n", 9e-3, /*free_layouts=*/true), failed,
          record("split C j [4]\n", 1e-3)});
  const Result<RecordStore> store = RecordStore::open_read_only(path("r.db"));
  ASSERT_TRUE(store.has_value()) << refusal_of(store);
  const auto overviews = task_overviews(*store);
  ASSERT_TRUE(overviews.has_value()) << refusal_of(overviews);
  ASSERT_EQ(overviews->size(), 2U);
  const TaskOverview& first = overviews->front();
  EXPECT_EQ(first.records, (std::vector<int64_t>{1, 3, 4}));
  EXPECT_EQ(first.first_seconds, 4e-3);
  EXPECT_EQ(first.curve.back().seconds, first.summary.best_seconds);
  EXPECT_EQ((*overviews)[1].records, (std::vector<int64_t>{2}));
}

}  // namespace
}  // namespace lathe
