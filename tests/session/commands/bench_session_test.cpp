// Which recorded program of an operator is measured again, and what is said where none can be.
#include "session/commands/bench_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "peers/fake_peers.h"
#include "session/session_fixture.h"

namespace lathe {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class BenchSession : public SessionTest {
 protected:
  void SetUp() override {
    SessionTest::SetUp();
    request_.source = source();
    request_.target = target_;
    request_.records = path("r.db");
    request_.rounds = 1;
    request_.worker = worker_;
    listener_.rejected = teller();
    listener_.note = teller();
    listener_.turn = [this](size_t turn, size_t count, const std::string& name) {
      turns_.push_back(std::to_string(turn) + "/" + std::to_string(count) + " " + name);
    };
  }

  // What came of it; nothing was wrong but for single cases.
  BenchOutcome measured() const {
    Result<BenchOutcome> outcome = bench(request_, listener_);
    if (outcome) return std::move(*outcome);
    ADD_FAILURE() << outcome.error().to_string();
    return {std::vector<CaseReport>(1), {}};
  }
  std::string refused() const { return refusal_of(bench(request_, listener_)); }
  std::string no_program_for(const std::string& names) const {
    return path("r.db") + ": there is no program on " + target_.name + " and 1 core for " + names;
  }

  BenchRequest request_;
  BenchListener listener_;
  std::vector<std::string> turns_;
};

TEST_F(BenchSession, TheBestRecordIsMeasuredAnewAndCompared) {
  append({record("split C i [2]\n", 20), record("split C j [4]\n", 10),
          failed_record(ErrorKind::crash, "it ended"), failed_record(ErrorKind::crash, "it ended again")});
  const BenchOutcome outcome = measured();
  EXPECT_EQ(refusal_of(outcome.all_measured), "");
  ASSERT_EQ(outcome.rows.size(), 1U);
  const CaseReport& row = outcome.rows.front();
  ASSERT_TRUE(row.result.winner.has_value());
  EXPECT_EQ(row.result.winner->record, 2);
  EXPECT_LE(row.result.winner->largest_difference, row.result.winner->tolerance);
  EXPECT_GT(row.result.progress.best_seconds, 0);
  EXPECT_LT(row.result.progress.best_seconds, 1) << "the recorded time was told";
  EXPECT_EQ(row.result.progress.trials, 4);
  EXPECT_EQ(row.result.progress.failed, 2);
  ASSERT_EQ(row.result.failures.size(), 1U);
  EXPECT_EQ(row.result.failures[0].first.message, "it ended");
  EXPECT_EQ(row.layout, "fixed");
  EXPECT_EQ(row.op, "expression");
  EXPECT_EQ(row.flops, 2 * 9 * 8 * 7);
  EXPECT_EQ(row.strategy, "evolutionary");
  EXPECT_TRUE(row.peers.empty());
  EXPECT_THAT(told_, IsEmpty());
  // Nothing is added: these times are no trials.
  EXPECT_EQ(RecordStore::open_read_only(path("r.db"))->count({}).value(), 4);
}

TEST_F(BenchSession, TheFasterOfBothLayoutsIsTaken) {
  append({record("split C i [2]\n", 2), record("split C j [4]\n", 1, true)});
  EXPECT_EQ(measured().rows.front().layout, "free");
  append({record("split C j [2]\n", 0.5)});
  const BenchOutcome outcome = measured();
  EXPECT_EQ(outcome.rows.front().layout, "fixed");
  EXPECT_EQ(outcome.rows.front().result.winner->record, 3);
}

// Times of two processors do not compare: another's is the best guess where there is none of this one.
TEST_F(BenchSession, ThisProcessorsRecordsGoFirst) {
  Record elsewhere = record("split C j [4]\n", 1e-6, true);
  elsewhere.machine = "another processor";
  append({elsewhere});
  EXPECT_EQ(measured().rows.front().result.winner->record, 1);
  append({record("split C i [2]\n", 1)});
  const BenchOutcome outcome = measured();
  EXPECT_EQ(outcome.rows.front().result.winner->record, 2);
  EXPECT_EQ(outcome.rows.front().layout, "fixed");
}

TEST_F(BenchSession, ARecordThatDoesNotApplyGivesWayAndIsNamed) {
  append({record("split C zzz [4]\n", 1), record("split C i [2]\n", 2)});
  const BenchOutcome outcome = measured();
  EXPECT_EQ(refusal_of(outcome.all_measured), "");
  EXPECT_EQ(outcome.rows.front().result.winner->record, 2);
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_THAT(told_[0], StartsWith("mm: the best record is not used, illegal_schedule: " + path("r.db") +
                                   ": record 1: split C zzz [4]: block 'C' has no loop 'zzz'"));
}

TEST_F(BenchSession, CasesTakeTurnsAndThoseWithoutAProgramAreNamed) {
  write_workload(R"({"name": "mm", "op": "expression", "text": "C[i:9, j:8] = sum(r:7) A[i,r] * B[r,j]"},
                    {"name": "a", "op": "expression", "text": "B[i:9] = A[i] + 1.0"},
                    {"name": "b", "op": "expression", "text": "B[i:9] = A[i] + 2.0"})");
  append({record("split C i [2]\n", 1)});
  request_.rounds = 2;
  const BenchOutcome outcome = measured();
  EXPECT_THAT(turns_, ElementsAre("1/6 mm", "2/6 a", "3/6 b", "4/6 mm", "5/6 a", "6/6 b"));
  EXPECT_EQ(refusal_of(outcome.all_measured), no_program_for("a, b"));
  EXPECT_EQ(outcome.all_measured.error().kind, ErrorKind::not_found);
  EXPECT_TRUE(has_program(outcome.rows[0]));
  EXPECT_TRUE(is_untried(outcome.rows[1]));
}

TEST_F(BenchSession, WhereEveryTrialFailedThereIsNoProgramEither) {
  append({failed_record(ErrorKind::timeout, "it hung")});
  const BenchOutcome outcome = measured();
  EXPECT_EQ(refusal_of(outcome.all_measured), no_program_for("mm"));
  EXPECT_EQ(outcome.rows.front().result.progress.trials, 1);
  EXPECT_EQ(outcome.rows.front().result.progress.failed, 1);
  EXPECT_EQ(outcome.rows.front().layout, "fixed");
}

TEST_F(BenchSession, AProgramThatIsWrongHasNoTime) {
  Record strict = record("split C i [2]\n", 1);
  strict.tolerance = 1e-12;
  append({strict});
  const BenchOutcome outcome = measured();
  EXPECT_THAT(
      refusal_of(outcome.all_measured),
      StartsWith(path("r.db") + ": the best program does not work any more for mm (wrong_result: C["));
  EXPECT_EQ(outcome.all_measured.error().kind, ErrorKind::wrong_result);
  EXPECT_FALSE(has_program(outcome.rows.front()));
  EXPECT_FALSE(outcome.rows.front().result.winner.has_value());
}

// Winograd's algorithm spreads infinities: what is kept from it is another task.
TEST_F(BenchSession, ItIsSaidWhereTheOtherKindOfTaskHasAProgram) {
  write_workload(
      R"({"name": "c", "op": "conv2d", "batch": 1, "height": 7, "width": 7, "in_channels": 8,
          "out_channels": 8, "kernel": 3, "padding": 1, "stride": 1})");
  append({record("", 1)});
  request_.source.exact_specials = true;
  EXPECT_EQ(refusal_of(measured().all_measured), no_program_for("c, but there is without --exact-specials"));
  Record exact = record("", 1);
  exact.task = text_of(task_of(load_workloads(source())->front(), target_, false, true).value());
  fs::remove(path("r.db"));
  append({exact});
  EXPECT_EQ(refusal_of(measured().all_measured), "");
  request_.source.exact_specials = false;
  EXPECT_EQ(refusal_of(measured().all_measured), no_program_for("c, but there is with --exact-specials"));
}

TEST_F(BenchSession, DamagedRecordsAreANoteAndAreNotMeasured) {
  append({record("split C i [2]\n", 2), record("split C j [4]\n", 1)});
  change_records("UPDATE records SET seconds = -1 WHERE id = 2");
  EXPECT_EQ(measured().rows.front().result.winner->record, 1);
  EXPECT_THAT(told_, ElementsAre(StartsWith(path("r.db") + ": 1 record is damaged: record 2, ")));
}

TEST_F(BenchSession, WhatIsMissingIsNamed) {
  EXPECT_EQ(refused(), "there is no records file " + path("r.db"));
  append({record("split C i [2]\n", 1)});
  request_.source.filter = "zz";
  EXPECT_EQ(refused(), "--filter: no entry of " + path("w.json") + " has a name that matches 'zz'");
  request_.source.filter = "";
  request_.worker = path("bin/lathe-worker");
  EXPECT_EQ(refused(),
            path("bin/lathe-worker") + ": the program lathe-worker is missing, it belongs beside lathe");
  request_.worker = worker_;
  request_.peers_folder = path("peers");
  EXPECT_THAT(refused(), StartsWith("--peers: there are no plug-ins in " + path("peers") + ": "));
  EXPECT_THAT(turns_, IsEmpty());
}

// Each turn of a case is one of its peers' too.
TEST_F(BenchSession, PeersTakeTurnsWithTheProgram) {
  write_workload(R"({"name": "twice", "op": "expression", "text": "O[i:50] = A[i] * 2"})");
  append({record("", 1)});
  fs::create_directory(path("peers"));
  fs::copy_file(testing::fake_peer("fake"), path("peers/lathe_peer_fake.so"));
  request_.peers_folder = path("peers");
  std::string loaded;
  listener_.peers = [&](std::span<const Peer> peers) {
    for (const Peer& peer : peers) loaded += peer.name();
  };
  const BenchOutcome outcome = measured();
  EXPECT_EQ(loaded, "fake 1.0");
  const std::vector<PeerFigure>& peers = outcome.rows.front().peers;
  ASSERT_EQ(peers.size(), 8U);
  EXPECT_EQ(peers[0].form, "fake");
  EXPECT_GT(peers[0].seconds, 0);
  EXPECT_EQ(peers[0].ratios.size(), 3U);
  EXPECT_FALSE(peers[0].failure.has_value());
  EXPECT_EQ(peers[1].form, "fake_wrong");
  EXPECT_EQ(peers[1].seconds, 0);
  EXPECT_TRUE(peers[1].ratios.empty());
  ASSERT_TRUE(peers[1].failure.has_value());
  EXPECT_THAT(peers[1].failure->message, HasSubstr("where the reference is"));
  EXPECT_TRUE(speed_up_of(outcome.rows.front()).has_value());
}

}  // namespace
}  // namespace lathe
