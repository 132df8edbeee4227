// Tuning as a program that embeds Lathe asks for it.
#include "lathe/tune.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lathe/lathe.h"
#include "session/compiled_state.h"
#include "session/network_file.h"
#include "session/session_fixture.h"

namespace lathe {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

class TuneFace : public SessionTest {
 protected:
  void SetUp() override {
    SessionTest::SetUp();
    choice_.worker = worker_;
    choice_.records = path("r.db");
    choice_.trials = 2;
    choice_.enough = 0;
    choice_.note = teller();
    choice_.progress = [this](const std::string& sentence) { progress_.push_back(sentence); };
  }
  static Computation product() {
    Formula formula;
    formula.text = "C[i:9, j:8] = sum(r:7) A[i,r] * B[r,j]";
    formula.name = "mm";
    return make_operator(formula, {"native", 1}).value();
  }
  std::string refused_with(const std::function<void(TuneChoice&)>& change) const {
    TuneChoice choice = choice_;
    change(choice);
    return refusal_of(tune(product(), choice));
  }

  TuneChoice choice_;
  std::vector<std::string> progress_;
};

TEST_F(TuneFace, WhatIsOutOfBoundsIsRefusedBeforeAnythingIsMade) {
  EXPECT_EQ(refused_with([](TuneChoice& c) { c.trials = -1; }),
            "trials: the number of trials must be at least 1");
  EXPECT_EQ(refused_with([](TuneChoice& c) { c.batch = 0; }),
            "batch: the number of candidates in a batch must be at least 1");
  for (const double seconds : {-1.0, std::nan("")}) {
    EXPECT_EQ(refused_with([=](TuneChoice& c) { c.seconds = seconds; }),
              "time: the time must be a number of seconds, 0 or more");
  }
  for (const double enough : {-1.0, 100.5, std::nan("")}) {
    EXPECT_EQ(refused_with([=](TuneChoice& c) { c.enough = enough; }),
              "enough: enough must be a number of per cent, 0 to 100");
  }
  EXPECT_EQ(refused_with([&](TuneChoice& c) { c.worker = path("worker"); }),
            path("worker") + ": the program worker is missing, it belongs beside lathe");
  EXPECT_EQ(refused_with([&](TuneChoice& c) { c.records = path("no/r.db"); }),
            "the records file " + path("no/r.db") + " cannot be made: the directory " + path("no") +
                " does not exist");
}

TEST_F(TuneFace, NamesThatThereAreNotAreNamed) {
  EXPECT_THAT(refused_with([](TuneChoice& c) { c.strategy = "luck"; }), HasSubstr("'luck'"));
  EXPECT_THAT(refused_with([](TuneChoice& c) { c.cost_model = "oracle"; }), HasSubstr("'oracle'"));
}

TEST_F(TuneFace, ATaskSaysWhatItsRecordsHold) {
  const Result<TuneResult> tuned = tune(product(), choice_);
  ASSERT_TRUE(tuned.has_value()) << refusal_of(tuned);
  ASSERT_EQ(tuned->tasks.size(), 1U);
  const TunedTask& task = tuned->tasks.front();
  EXPECT_EQ(task.name, "mm");
  EXPECT_EQ(task.trials, 2);
  EXPECT_EQ(task.failed, 0);
  EXPECT_EQ(task.uses, 1);
  ASSERT_GT(task.seconds, 0);
  EXPECT_DOUBLE_EQ(task.gflops, 2 * 9 * 8 * 7 / task.seconds * 1e-9);
  const std::vector<Record> records = RecordStore::open_read_only(path("r.db"))->find({}).value();
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(task.seconds, std::min(records[0].measurement.seconds, records[1].measurement.seconds));
  // Each layout of the activations has had one.
  EXPECT_NE(records[0].task.free_layouts, records[1].task.free_layouts);
  ASSERT_TRUE(tuned->compiled.has_value());
  EXPECT_EQ(tuned->compiled->state().model.kernels.front().checked, Checked::full);
  EXPECT_THAT(progress_, Contains(MatchesRegex("mm: [0-9]+ trials, 0 failed, best [0-9.]+ us")));
  EXPECT_THAT(progress_, Contains(StartsWith("mm (row-major): ")));
}

TEST_F(TuneFace, WithoutAValidProgramThatIsTheError) {
  // What every trial of a run before came to.
  Record failed = failed_record(ErrorKind::crash, "it ended by SIGSEGV");
  Record free = record("split C i [2]\n", 1, true);
  free.measurement = failed.measurement;
  append({failed, free});
  choice_.trials = 2;
  const Result<TuneResult> tuned = tune(product(), choice_);
  EXPECT_EQ(
      refusal_of(tuned),
      "no valid program was found for mm (2 of 2 trials failed, most often crash: it ended by SIGSEGV)");
}

// Points of the caller's method are what is recorded.
class FirstPoints : public SearchMethod {
 public:
  FirstPoints(PointSpace& space, std::vector<SearchPoint>& proposed) : space_(space), proposed_(proposed) {}
  std::vector<SearchPoint> propose(int count, const PointScorer&) override {
    std::vector<SearchPoint> points = space_.draw(count);
    proposed_.insert(proposed_.end(), points.begin(), points.end());
    return points;
  }
  void observe(std::span<const PointOutcome>) override {}

 private:
  PointSpace& space_;
  std::vector<SearchPoint>& proposed_;
};

TEST_F(TuneFace, ACallersOwnMethodProposesAndItsNameIsRecorded) {
  std::vector<SearchPoint> proposed;
  choice_.trials = 4;
  choice_.batch = 2;
  choice_.strategy = "mine";
  choice_.search_method = [&](PointSpace& space, uint64_t) {
    return std::make_unique<FirstPoints>(space, proposed);
  };
  const Result<TuneResult> tuned = tune(product(), choice_);
  ASSERT_TRUE(tuned.has_value()) << refusal_of(tuned);
  const std::vector<Record> records = RecordStore::open_read_only(path("r.db"))->find({}).value();
  ASSERT_EQ(records.size(), 4U);
  EXPECT_EQ(proposed.size(), 4U);
  for (const Record& record : records) EXPECT_EQ(record.strategy, "mine");
}

TEST_F(TuneFace, ANetworksTasksAreToldWithTheirUses) {
  OnnxModel model;
  model.input("x", {4, 8}).initializer("w", {8, 8}).initializer("v", {8, 8});
  model.node("n1", "MatMul", {"x", "w"}, "t").node("n2", "MatMul", {"t", "v"}, "y").output("y");
  NetworkFile file;
  file.path = model_file(folder_, model);
  choice_.trials = 1;
  const Result<TuneResult> tuned = tune(make_network(file, {"native", 1}).value(), choice_);
  ASSERT_TRUE(tuned.has_value()) << refusal_of(tuned);
  int64_t uses = 0;
  for (const TunedTask& task : tuned->tasks) uses += task.uses;
  EXPECT_EQ(uses, 2);
  ASSERT_TRUE(tuned->compiled.has_value());
  EXPECT_EQ(tuned->compiled->state().model.name, "net");
}

}  // namespace
}  // namespace lathe
