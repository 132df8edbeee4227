// A tuning run from what is asked before it to the artifacts at its end.
#include "session/commands/tune_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <thread>

#include "artifact/manifest.h"
#include "session/network_file.h"
#include "session/session_fixture.h"

namespace lathe {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class TuneSessionTest : public SessionTest {
 protected:
  void SetUp() override {
    SessionTest::SetUp();
    request_.source = source();
    request_.records = path("r.db");
    request_.worker = worker_;
    request_.trials = 3;
    request_.enough = 0;
    listener_.rejected = teller();
    listener_.note = teller();
    listener_.written = [this](const WrittenModel& model) { written_.push_back(model.folder); };
    listener_.state = [this](const TuneState& state) { names_.insert(state.name); };
  }

  TuneSession started() const {
    Result<TuneSession> session = TuneSession::start(request_, listener_);
    if (!session) ADD_FAILURE() << session.error().to_string();
    return std::move(*session);
  }
  // Why it does not start.
  std::string refused() const { return refusal_of(TuneSession::start(request_, listener_)); }
  std::string name_in(const std::string& folder) const {
    const Result<Manifest> manifest = read_manifest(path(folder));
    return manifest ? manifest->name : manifest.error().to_string();
  }
  void write_two() const {
    write_workload(R"({"name": "a", "op": "expression", "text": "B[i:9] = A[i]"},
                      {"name": "b", "op": "expression", "text": "B[i:9] = A[i] + 1.0"})");
  }

  TuneRequest request_;
  TuneListener listener_;
  std::vector<std::string> written_;
  std::set<std::string> names_;  // of the cases that progress was told of
};

TEST_F(TuneSessionTest, ARowSaysWhatTheRecordsHold) {
  TuneSession session = started();
  EXPECT_EQ(session.target(), target_);
  EXPECT_EQ(session.deadline().seconds_left(), std::numeric_limits<double>::infinity());
  const Result<std::vector<CaseReport>> rows = session.tune();
  ASSERT_TRUE(rows.has_value()) << refusal_of(rows);
  ASSERT_EQ(rows->size(), 1U);
  const CaseReport& row = rows->front();
  EXPECT_EQ(row.result.name, "mm");
  EXPECT_EQ(row.op, "expression");
  EXPECT_EQ(row.flops, 2 * 9 * 8 * 7);
  EXPECT_EQ(row.bytes, 4 * (9 * 7 + 7 * 8 + 9 * 8));
  EXPECT_EQ(row.cores, 1);
  EXPECT_EQ(row.target, target_.name);
  EXPECT_EQ(row.strategy, "evolutionary");
  EXPECT_EQ(row.layout, "free");
  EXPECT_EQ(row.uses, 1);
  EXPECT_EQ(row.result.progress.trials, 3);
  ASSERT_TRUE(row.result.winner.has_value());
  EXPECT_EQ(session.records().count({}).value(), 3);
  EXPECT_EQ(session.records().by_id(row.result.winner->record)->measurement.seconds,
            row.result.progress.best_seconds);
  EXPECT_THAT(names_, ElementsAre("mm"));
  // What this run has compared is not compared again.
  const CompileModelOptions options = session.compile_options(5, {});
  EXPECT_EQ(options.confirmed, std::set<int64_t>{row.result.winner->record});
  EXPECT_TRUE(options.sampled.empty());
  EXPECT_EQ(options.records, &session.records());
  EXPECT_EQ(options.target, target_);
}

// The records hold as many as were asked for; without trials nothing needs to be raced.
TEST_F(TuneSessionTest, AnotherRunTakesUpWhatIsRecorded) {
  request_.trials = 2;
  ASSERT_TRUE(started().tune().has_value());
  const Result<std::vector<CaseReport>> again = started().tune();
  ASSERT_TRUE(again.has_value()) << refusal_of(again);
  EXPECT_EQ(again->front().result.progress.trials, 2);
  EXPECT_EQ(RecordStore::open_read_only(path("r.db"))->count({}).value(), 2);
}

// The trials are shared out among the layouts, the odd one to the first; the faster kernel answers for both.
TEST_F(TuneSessionTest, AnArtifactsOperatorIsTunedWithBothLayouts) {
  request_.out = path("o");
  TuneSession session = started();
  const Result<std::vector<CaseReport>> rows = session.tune();
  ASSERT_TRUE(rows.has_value()) << refusal_of(rows);
  ASSERT_EQ(rows->size(), 1U);
  EXPECT_EQ(rows->front().result.progress.trials, 3);
  EXPECT_THAT(names_, ElementsAre("mm", "mm (row-major)"));
  std::vector<std::pair<bool, int64_t>> trials;
  const std::vector<TaskSummary> tasks = session.records().tasks({}).value();
  for (const TaskSummary& task : tasks) trials.emplace_back(task.task.free_layouts, task.trials);
  EXPECT_THAT(trials, ElementsAre(std::pair(true, 2), std::pair(false, 1)));
  double best = std::numeric_limits<double>::infinity();
  for (const TaskSummary& task : tasks) best = std::min(best, *task.best_seconds);
  EXPECT_EQ(rows->front().result.progress.best_seconds, best);

  EXPECT_EQ(refusal_of(session.write(*rows)), "");
  EXPECT_EQ(name_in("o/mm"), "mm");
  EXPECT_THAT(written_, ElementsAre(path("o/mm")));
}

TEST_F(TuneSessionTest, WhoeverStopsItGetsWhatThereIs) {
  write_two();
  listener_.stop = [] { return true; };
  const Result<std::vector<CaseReport>> rows = started().tune();
  ASSERT_TRUE(rows.has_value()) << refusal_of(rows);
  EXPECT_THAT(*rows, IsEmpty());
  EXPECT_EQ(RecordStore::open_read_only(path("r.db"))->count({}).value(), 0);
}

// Where there was no time for any trial each operator is compiled as without records; once the command is
// late by more than a second one alone is, and the others are counted.
TEST_F(TuneSessionTest, WithoutTimeOneOperatorIsWrittenInAnyCase) {
  write_two();
  request_.trials = std::nullopt;
  request_.seconds = 0;
  request_.out = path("o");
  TuneSession session = started();
  EXPECT_LE(session.deadline().seconds_left(), 0);
  const Result<std::vector<CaseReport>> rows = session.tune();
  ASSERT_TRUE(rows.has_value()) << refusal_of(rows);
  ASSERT_EQ(rows->size(), 2U);
  EXPECT_TRUE(is_untried(rows->front()));
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  const Status written = session.write(*rows);
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().kind, ErrorKind::timeout);
  EXPECT_EQ(written.error().to_string(),
            "there was no time left to write the artifacts of 1 of 2 operators; `lathe compile` writes them");
  EXPECT_EQ(name_in("o/a"), "a");
  EXPECT_FALSE(fs::exists(path("o/b")));
  EXPECT_THAT(told_, ::testing::Contains(StartsWith(
                         "a: kernels whose results were not all compared with a reference: 1 of 1 (")));
}

TEST_F(TuneSessionTest, WhatWasTunedIsWrittenWhileThereIsTimeToo) {
  write_two();
  request_.trials = std::nullopt;
  request_.seconds = 1;
  request_.out = path("o");
  TuneSession session = started();
  const Result<std::vector<CaseReport>> rows = session.tune();
  ASSERT_TRUE(rows.has_value()) << refusal_of(rows);
  const double left = std::max(0.0, session.deadline().seconds_left());
  std::this_thread::sleep_for(std::chrono::duration<double>(left + 1.1));
  EXPECT_EQ(refusal_of(session.write(*rows)),
            "there was no time left to write the artifacts of 1 of 2 operators; `lathe compile` writes them");
}

// An operator whose programs were all wrong is neither written nor tried again.
TEST_F(TuneSessionTest, AnOperatorWithoutAValidProgramIsNotWritten) {
  request_.search.tolerance = 1e-12;
  request_.trials = 1;
  request_.layout = "fixed";
  request_.out = path("o");
  TuneSession session = started();
  EXPECT_EQ(session.compile_options(0, {}).tolerance, 1e-12);
  const Result<std::vector<CaseReport>> rows = session.tune();
  ASSERT_TRUE(rows.has_value()) << refusal_of(rows);
  EXPECT_FALSE(has_program(rows->front()));
  EXPECT_EQ(rows->front().layout, "fixed");
  ASSERT_EQ(rows->front().result.failures.size(), 1U);
  EXPECT_EQ(rows->front().result.failures[0].first.kind, ErrorKind::wrong_result);
  EXPECT_EQ(refusal_of(session.write(*rows)), "");
  EXPECT_FALSE(fs::exists(path("o/mm")));
  EXPECT_THAT(
      refusal_of(check_all_found(*rows, true)),
      StartsWith("no valid program was found for mm (1 of 1 trials failed, most often wrong_result: C["));
}

// A row of both layouts says how often programs of either failed in each way.
TEST_F(TuneSessionTest, FailuresOfBothLayoutsAreCountedTogether) {
  const auto failed = [&](bool free_layouts, ErrorKind kind) {
    Record made = record("split C i [2]\n", 1, free_layouts);
    made.measurement = failed_measurement(kind, "so");
    return made;
  };
  append({failed(true, ErrorKind::crash), failed(true, ErrorKind::timeout), failed(false, ErrorKind::crash)});
  request_.both_layouts = true;
  const Result<std::vector<CaseReport>> rows = started().tune();
  ASSERT_TRUE(rows.has_value()) << refusal_of(rows);
  const CaseResult& result = rows->front().result;
  EXPECT_EQ(result.progress.failed, 3);
  std::map<ErrorKind, int64_t> counts;
  for (const FailureCount& failure : result.failures) counts[failure.first.kind] += failure.count;
  EXPECT_EQ(counts, (std::map<ErrorKind, int64_t>{{ErrorKind::timeout, 1}, {ErrorKind::crash, 2}}));
}

TEST_F(TuneSessionTest, ANetworksTasksAreRowsAndItsArtifactIsOne) {
  request_.source.workload = "";
  request_.source.model = model_file(folder_, declared_otherwise(small_conv_model()));
  request_.trials = 1;
  request_.scheduler = "round-robin";
  request_.out = path("o");
  request_.name = "mine";
  TuneSession session = started();
  EXPECT_THAT(told_, ElementsAre(HasSubstr("output 'y' is declared as f32[7]")));
  const Result<std::vector<CaseReport>> rows = session.tune();
  ASSERT_TRUE(rows.has_value()) << refusal_of(rows);
  ASSERT_EQ(rows->size(), 1U);
  EXPECT_EQ(rows->front().op, "network");
  EXPECT_EQ(rows->front().layout, "fixed");
  EXPECT_EQ(rows->front().uses, 1);
  EXPECT_EQ(rows->front().result.progress.trials, 1);
  EXPECT_EQ(refusal_of(session.write(*rows)), "");
  EXPECT_EQ(name_in("o"), "mine");
  EXPECT_THAT(written_, ElementsAre(path("o")));
}

// Before anything is measured or made.
TEST_F(TuneSessionTest, WhatIsWrongWithTheRequestIsFoundFirst) {
  const TuneRequest right = request_;
  const auto refused_with = [&](const std::function<void(TuneRequest&)>& change) {
    request_ = right;
    change(request_);
    return refused();
  };
  EXPECT_EQ(
      refused_with([](TuneRequest& r) { r.scheduler = "greedy"; }),
      "there is no task scheduler 'greedy'; legal names are gradient-patient, gradient, ucb, round-robin");
  EXPECT_EQ(refused_with([](TuneRequest& r) { r.source.workload = ""; }),
            "nothing to work on: give MODEL.onnx or --workload FILE.json");
  EXPECT_EQ(refused_with([](TuneRequest& r) { r.source.filter = "zz"; }),
            "--filter: no entry of " + path("w.json") + " has a name that matches 'zz'");
  EXPECT_EQ(refused_with([](TuneRequest& r) { r.name = "a-b"; }),
            "--name: 'a-b' names no model: a name has letters, digits and underscores, at most 243");
  EXPECT_EQ(refused_with([](TuneRequest& r) { r.json = r.records; }),
            "--json " + path("r.db") + " and --records " + path("r.db") +
                " name the same file, which would be overwritten");
  EXPECT_EQ(refused_with([](TuneRequest& r) { r.json = r.source.workload; }),
            "--json " + path("w.json") + " and --workload " + path("w.json") +
                " name the same file, which would be overwritten");
  EXPECT_EQ(refused_with([&](TuneRequest& r) {
              r.out = path("o");
              r.json = path("o/mm/weights.bin");
            }),
            "--json " + path("o/mm/weights.bin") + " and --out " + path("o/mm/weights.bin") +
                " name the same file, which would be overwritten");
  EXPECT_EQ(refused_with([&](TuneRequest& r) { r.json = path("no/r.json"); }),
            path("no/r.json") + ": the file cannot be written: No such file or directory");
  EXPECT_EQ(refused_with([&](TuneRequest& r) { r.out = path("w.json"); }),
            path("w.json/mm") + ": the folder cannot be made: " + path("w.json") + " is a file");
  EXPECT_THAT(refused_with([](TuneRequest& r) { r.source.target = "pdp11"; }), StartsWith("--target: "));
  EXPECT_THAT(refused_with([](TuneRequest& r) { r.source.cores = 100'000; }),
              StartsWith("--cores: 100000 cores are more than the "));
  EXPECT_FALSE(fs::exists(path("r.db")));
  EXPECT_FALSE(fs::exists(path("o")));
}

TEST_F(TuneSessionTest, RecordsAndWorkerAreOpenedLast) {
  request_.records = path("w.json");
  EXPECT_EQ(refused(), path("w.json") + " is not a Lathe records file: it is not an SQLite database");
  request_.records = path("r.db");
  request_.worker = path("bin/lathe-worker");
  EXPECT_EQ(refused(),
            path("bin/lathe-worker") + ": the program lathe-worker is missing, it belongs beside lathe");
}

TEST_F(TuneSessionTest, ATargetOfAnotherMachineIsNotTuned) {
  request_.source.target = foreign_target();
  EXPECT_THAT(refused(), StartsWith("--target: "));
  EXPECT_FALSE(fs::exists(path("r.db")));
}

TEST(Joined, TheSecondErrorIsTheCommandsOwn) {
  std::vector<std::string> told;
  const Teller teller = [&](const std::string& sentence) { told.push_back(sentence); };
  const Status first = fail(ErrorKind::io, "the first failed", "a");
  const Status second = fail(ErrorKind::build, "the second failed");
  EXPECT_TRUE(joined({}, {}, teller).has_value());
  EXPECT_EQ(refusal_of(joined(first, {}, teller)), "a: the first failed");
  EXPECT_EQ(refusal_of(joined({}, second, teller)), "the second failed");
  EXPECT_THAT(told, IsEmpty());
  EXPECT_EQ(refusal_of(joined(first, second, teller)), "the second failed");
  EXPECT_THAT(told, ElementsAre("a: the first failed"));
  EXPECT_EQ(refusal_of(joined(first, second, {})), "the second failed");
}

}  // namespace
}  // namespace lathe
