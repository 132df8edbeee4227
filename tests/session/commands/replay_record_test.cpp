// A record made again from its file alone.
#include "session/commands/replay_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session/session_fixture.h"
#include "target/all.h"

namespace lathe {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

class ReplayRecord : public SessionTest {};

TEST_F(ReplayRecord, ARecordIsFoundByItsNumber) {
  append({record("split C i [2]\n", 1e-3), record("split C j [4]\n", 2e-3)});
  const Result<Record> second = find_record(path("r.db"), 2);
  ASSERT_TRUE(second.has_value()) << refusal_of(second);
  EXPECT_EQ(second->trace, "split C j [4]\n");
  EXPECT_EQ(second->task.name, "mm");
  EXPECT_EQ(refusal_of(find_record(path("r.db"), 3)),
            "the records file " + path("r.db") + " has no record 3");
  EXPECT_EQ(refusal_of(find_record(path("none.db"), 1)), "there is no records file " + path("none.db"));
  EXPECT_FALSE(std::filesystem::exists(path("none.db")));
}

TEST_F(ReplayRecord, ADamagedRecordIsNamedWithWhatIsWrong) {
  append({record("split C i [2]\n", 1e-3)});
  change_records("UPDATE records SET cores = 0");
  const Result<Record> damaged = find_record(path("r.db"), 1);
  EXPECT_EQ(refusal_of(damaged),
            "record 1 of the records file " + path("r.db") + " is damaged: its column cores holds '0'");
  EXPECT_EQ(damaged.error().kind, ErrorKind::database);
}

TEST_F(ReplayRecord, IsComparedInFullAndMeasured) {
  const Result<Replayed> again = replay(record("split C i [2]\n", 1e-3), "r.db", worker_);
  ASSERT_TRUE(again.has_value()) << refusal_of(again);
  EXPECT_FALSE(again->check.failure.has_value());
  EXPECT_LE(again->check.largest_difference, again->check.tolerance);
  ASSERT_TRUE(again->now.ok());
  EXPECT_GT(again->now.seconds, 0);
  EXPECT_EQ(again->now.source, MeasureSource::measured);
}

// What was right by the tolerance of its tuning may be wrong by another.
TEST_F(ReplayRecord, WhatIsWrongIsNotMeasured) {
  Record strict = record("split C i [2]\n", 1e-3);
  strict.tolerance = 1e-12;
  const Result<Replayed> again = replay(strict, "r.db", worker_);
  ASSERT_TRUE(again.has_value()) << refusal_of(again);
  ASSERT_TRUE(again->check.failure.has_value());
  EXPECT_EQ(again->check.failure->kind, ErrorKind::wrong_result);
  EXPECT_THAT(again->check.failure->message,
              MatchesRegex("C\\[[0-9]+, ?[0-9]+\\] is .* where the reference is .*"));
  EXPECT_EQ(again->now, Measurement());
}

TEST_F(ReplayRecord, ARecordThatDoesNotApplyIsNamedWithItsFile) {
  Record wrong = record("split C zzz [2]\n", 1e-3);
  wrong.id = 7;
  EXPECT_THAT(refusal_of(replay(wrong, "r.db", worker_)),
              StartsWith("r.db: record 7: split C zzz [2]: block 'C' has no loop 'zzz'"));
  EXPECT_THAT(refusal_of(record_text(wrong, "r.db", "trace")), StartsWith("r.db: "));
  wrong.task.dag = "C[i:9, j:8] = ";
  EXPECT_THAT(refusal_of(replay(wrong, "r.db", worker_)),
              MatchesRegex("r.db: task [0-9a-f]{16}:1:15: expected a value"));
}

TEST_F(ReplayRecord, AnotherMachinesTargetIsNotRunHere) {
  target_ = with_cores(generic_target(foreign_target()), 1);
  const Record foreign = record("split C i [2]\n", 1e-3);
  const std::string refusal = refusal_of(replay(foreign, "r.db", worker_));
  EXPECT_THAT(refusal, StartsWith("r.db: "));
  EXPECT_THAT(refusal, HasSubstr(target_.name));
  // Its code can be looked at.
  EXPECT_THAT(record_text(foreign, "r.db", "llvm").value_or(""), HasSubstr("define "));
}

TEST_F(ReplayRecord, AWorkerThatIsMissingIsNamed) {
  EXPECT_EQ(refusal_of(replay(record("split C i [2]\n", 1e-3), "r.db", path("bin/lathe-worker"))),
            path("bin/lathe-worker") + ": the program lathe-worker is missing, it belongs beside lathe");
}

TEST_F(ReplayRecord, IsPrintedInEachForm) {
  const Record printed = record("split C i [2]\nunroll C i.1\n", 1e-3);
  EXPECT_EQ(record_text(printed, "r.db", "loops").value_or(""), R"(input A: f32[9, 7] [0][1]
input B: f32[7, 8] [0][1]
output C: f32[9, 8] [0][1]
main {
  for i.0 in 5 {
    unroll i.1 in 2 {
      for j in 8 {
        for r in 7 {
          block C where 2*i.0 + i.1 < 9 axis 0 {
            i: 9 = 2*i.0 + i.1
            j: 8 = j
            reduce r: 7 = r
            C[i, j] init sum= A[i, r] * B[r, j]
          }
        }
      }
    }
  }
}
)");
  EXPECT_THAT(record_text(printed, "r.db", "lowered").value_or(""), HasSubstr("\nflat\nmain {\n"));
  EXPECT_THAT(record_text(printed, "r.db", "asm").value_or(""), HasSubstr("lathe_kernel:"));
  EXPECT_THAT(record_text(printed, "r.db", "c").value_or(""), HasSubstr("#include <stdint.h>"));
  EXPECT_EQ(refusal_of(record_text(printed, "r.db", "pascal")),
            "r.db: record 0: 'pascal' is no form of code: one of loops, lowered, llvm, asm, c, opencl");
  EXPECT_EQ(refusal_of(record_text(printed, "r.db", "opencl")),
            "r.db: record 0: no backend gives programs for the target '" + target_.name + "' as 'opencl'");
}

}  // namespace
}  // namespace lathe
