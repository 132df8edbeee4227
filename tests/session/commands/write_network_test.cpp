#include "session/commands/write_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "session/network_file.h"
#include "session/session_fixture.h"
#include "session/start_measurer.h"
#include "space/all.h"
#include "tune/choose_trace.h"

namespace lathe {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A convolution whose records say that its naive program is the fastest of all, which no run of it bears out.
class WriteNetwork : public SessionTest {
 protected:
  void SetUp() override {
    SessionTest::SetUp();
    if (IsSkipped()) return;
    network_ = network_in(folder_, wide_conv_model(), target_);
    measurer_ = start_measurer(worker_, 1).value();
    store_ = RecordStore::open(path("r.db")).value();
    options_ = {.target = target_, .records = &*store_, .runner = &*measurer_};
    options_.weights_limit = 0;  // the untuned program is Winograd's
    options_.note = [this](const std::string& sentence) { told_.push_back(sentence); };
  }
  const Task& task() const { return network_->tasks.tasks[0].task; }
  int64_t keep(const std::string& trace, double seconds) {
    return store_->append(record_of(task(), trace, seconds)).value();
  }
  int64_t keep_naive(double seconds) { return keep(to_string(naive_trace(task()).value()), seconds); }
  int64_t keep_untuned(double seconds) { return keep(untuned_trace(derive_space(task()).value()), seconds); }
  WrittenNetwork written(const NetworkFolder& folder) {
    Result<WrittenNetwork> done = write_network(*network_, options_, folder);
    EXPECT_TRUE(done) << refusal_of(done);
    return done.value_or(WrittenNetwork());
  }
  // The record whose program the artifact holds.
  nlohmann::json record_in(const std::string& name) const {
    const auto manifest = parse_json(read_text(path(name) + "/manifest.json"), "manifest").value();
    return manifest["kernels"][0].value("record", nlohmann::json());
  }

  std::optional<Network> network_;
  std::optional<Measurer> measurer_;
  std::optional<RecordStore> store_;
  CompileModelOptions options_;
};

TEST_F(WriteNetwork, TheUntunedProgramStaysWhereItIsFasterInTheNetwork) {
  keep_naive(1e-9);
  const int64_t untuned = keep_untuned(1e-3);
  const WrittenNetwork done = written({.path = path("a")});
  EXPECT_EQ(record_in("a"), untuned);
  EXPECT_THAT(told_,
              ElementsAre(HasSubstr("1 of 1 tuned programs is slower than the untuned one, which stays")));
  EXPECT_TRUE(done.model.time.has_value());
  EXPECT_EQ(done.untuned, std::nullopt) << "the records have a program for it";
}

// It keeps four times the bytes of the filters (Winograd), and may keep as many as these.
TEST_F(WriteNetwork, WhatTheLimitOfWeightsHasNoRoomForDoesNotRace) {
  const int64_t naive = keep_naive(1e-9);
  keep_untuned(1e-3);
  options_.weights_limit = 1;
  written({.path = path("a")});
  EXPECT_EQ(record_in("a"), naive);
  EXPECT_THAT(told_, IsEmpty());
}

TEST_F(WriteNetwork, NothingElseStaysInTheFolder) {
  keep_naive(1e-9);
  keep_untuned(1e-3);
  written({.path = path("a")});
  for (const auto& entry : std::filesystem::directory_iterator(path("a")))
    EXPECT_FALSE(entry.is_directory()) << entry.path();
}

// One size would decide for all.
TEST_F(WriteNetwork, ProgramsOfFreeSizesDoNotRace) {
  OnnxModel model = wide_conv_model();
  model.proto.mutable_graph()
      ->mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(0)
      ->set_dim_param("n");
  const SizeChoices sizes{{{"x", {{0, "n", 1, 2}}}}, {}};
  network_ = load_network(model_file(folder_, model), {}, target_, false, sizes).value();
  ASSERT_FALSE(network_->free.empty());
  const int64_t naive = keep_naive(1e-9);
  keep_untuned(1e-3);
  written({.path = path("a")});
  EXPECT_EQ(record_in("a"), naive);
  EXPECT_THAT(told_, IsEmpty());
}

// Without a record of it nothing guards against what the untuned program does; without time nothing is run.
TEST_F(WriteNetwork, NothingRacesWithoutBothRecordsOrWithoutTime) {
  const int64_t naive = keep_naive(1e-9);
  written({.path = path("a")});
  EXPECT_EQ(record_in("a"), naive);
  keep_untuned(1e-3);
  written({.path = path("b"), .deadline = Deadline::in(3)});
  EXPECT_EQ(record_in("b"), naive);
  written({.path = path("c"), .stop = [] { return true; }});
  EXPECT_EQ(record_in("c"), naive);
  options_.runner = nullptr;
  written({.path = path("d")});
  EXPECT_EQ(record_in("d"), naive);
  EXPECT_THAT(told_, IsEmpty());
}

TEST_F(WriteNetwork, TheModelMayHaveAnotherName) {
  keep_naive(1e-9);
  keep_untuned(1e-3);
  EXPECT_EQ(written({.path = path("a"), .name = "mine"}).model.name, "mine");
  EXPECT_THAT(read_text(path("a") + "/manifest.json"), HasSubstr("\"name\": \"mine\""));
}

TEST(RaceInPlaceSeconds, GrowWithTheFirstArtifactsAndItsRuns) {
  EXPECT_GT(race_in_place_seconds(0, 0), 2);
  EXPECT_GT(race_in_place_seconds(10, 0), race_in_place_seconds(0, 0) + 10);
  EXPECT_GT(race_in_place_seconds(0, 1), race_in_place_seconds(0, 0) + 10)
      << "either runs five times and more";
}

}  // namespace
}  // namespace lathe
