// What transforms make of a network's constants is held to a multiple of these.
#include "artifact/limit_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <limits>

#include "artifact/artifact_fixture.h"
#include "graph/onnx/models.h"
#include "tune/in_process_runner.h"
#include "tune/smaller_traces.h"

namespace lathe {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

class LimitWeightsTest : public ArtifactTest {
 protected:
  // Two convolutions with filters of their own, for which the model's first choice is Winograd.
  Network convolutions() {
    OnnxModel onnx;
    onnx.input("x", {1, 64, 28, 28}).initializer("w", {64, 64, 3, 3}).initializer("v", {64, 64, 3, 3});
    onnx.node("n1", "Conv", {"x", "w"}, "t").attribute("pads", {1, 1, 1, 1});
    onnx.node("n2", "Conv", {"t", "v"}, "y").attribute("pads", {1, 1, 1, 1}).output("y");
    std::ofstream(folder("net.onnx"), std::ios::binary) << onnx.bytes();
    return load_network(folder("net.onnx"), {}, options_.target).value();
  }

  size_t weights_within(const Network& network, double limit) {
    options_.weights_limit = limit;
    notes_.clear();
    options_.note = [&](const std::string& sentence) { notes_.push_back(sentence); };
    const auto model = compile_network(network, options_);
    EXPECT_TRUE(model.has_value()) << model.error().to_string();
    return static_cast<size_t>(model->weights_bytes);
  }

  static constexpr size_t kConstants = size_t{2} * 64 * 64 * 9 * 4;
  std::vector<std::string> notes_;
};

TEST_F(LimitWeightsTest, TransformedFiltersGiveWay) {
  const Network network = convolutions();
  EXPECT_GT(weights_within(network, 0), 2 * kConstants);
  EXPECT_TRUE(notes_.empty());
  EXPECT_LT(weights_within(network, 1.5), kConstants * 3 / 2 + 4096);
  ASSERT_EQ(notes_.size(), 1U);
  EXPECT_THAT(notes_[0], HasSubstr("more than 1.5 times the 0.3 MB of the network's constants"));
  EXPECT_THAT(notes_[0],
              ContainsRegex("with [12] of 2 tasks on smaller ones they are 0.[0-9] MB, and these "
                            "tasks take [0-9.]+ ms of a run where they took [0-9.]+ ms, by estimates$"));
  // Large enough for all of them.
  EXPECT_GT(weights_within(network, 100), 2 * kConstants);
  EXPECT_TRUE(notes_.empty());
}

// What is recorded of one task takes many times as long as the model says, as everything here would: the
// others do not look cheap beside it, nor do its own smaller programs.
TEST_F(LimitWeightsTest, ALimitBeyondAllNumbersIsNone) {
  const Network network = convolutions();
  EXPECT_EQ(WeightsBudget(network, 1e30).limit(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(WeightsBudget(network, 2).limit(), static_cast<int64_t>(2 * kConstants));
}

TEST_F(LimitWeightsTest, EstimatesStandOnTheScaleOfTheRecords) {
  const Network network = convolutions();
  const auto programs = [&] {
    std::vector<std::string> traces;
    const auto model = compile_network(network, options_);
    EXPECT_TRUE(model.has_value()) << model.error().to_string();
    for (const CompiledTask& kernel : model->kernels) traces.push_back(to_string(kernel.trace));
    return traces;
  };
  options_.weights_limit = 0;
  const std::vector<std::string> all = programs();
  options_.weights_limit = 4;
  const std::vector<std::string> within = programs();
  ASSERT_NE(within, all) << "one of them gives way";
  for (size_t recorded = 0; recorded < all.size(); ++recorded) {
    auto records = RecordStore::open(folder("records" + std::to_string(recorded) + ".db"));
    ASSERT_TRUE(records.has_value());
    Record record = record_of(network.tasks.tasks[recorded].task);
    record.trace = all[recorded];
    record.measurement = measurement_of({0.1});
    ASSERT_TRUE(records->append(record));
    options_.records = &*records;
    EXPECT_EQ(programs(), within) << recorded;
    options_.records = nullptr;
  }
}

// What is compiled in its place is no program that tuning would have to find first.
TEST_F(LimitWeightsTest, ATaskThatGivesItsRecordedProgramUpIsTunedAllTheSame) {
  const Network network = convolutions();
  options_.weights_limit = 0;
  const auto free = compile_network(network, options_);
  ASSERT_TRUE(free.has_value()) << free.error().to_string();
  auto records = RecordStore::open(folder("records.db"));
  ASSERT_TRUE(records.has_value());
  for (size_t i = 0; i < free->kernels.size(); ++i) {
    Record record = record_of(network.tasks.tasks[i].task);
    record.trace = to_string(free->kernels[i].trace);
    record.measurement = measurement_of({1e-3});
    ASSERT_TRUE(records->append(record));
  }
  options_.records = &*records;
  options_.weights_limit = 1.5;
  const auto within = compile_network(network, options_);
  ASSERT_TRUE(within.has_value()) << within.error().to_string();
  EXPECT_TRUE(std::ranges::any_of(within->kernels, &CompiledTask::goes_before_records));
  for (const CompiledTask& kernel : within->kernels)
    EXPECT_NE(kernel.record.has_value(), kernel.goes_before_records) << kernel.task.name;
}

// 9 kB of constants, of which the fastest program keeps 50.
TEST_F(LimitWeightsTest, WhatTakesLessThanALibraryIsLeftAlone) {
  OnnxModel onnx;
  onnx.input("x", {1, 16, 14, 14}).initializer("w", {16, 16, 3, 3});
  onnx.node("n1", "Conv", {"x", "w"}, "y").attribute("pads", {1, 1, 1, 1}).output("y");
  std::ofstream(folder("net.onnx"), std::ios::binary) << onnx.bytes();
  const Network network = load_network(folder("net.onnx"), {}, options_.target).value();
  EXPECT_EQ(weights_within(network, 0.5), weights_within(network, 0));
  EXPECT_TRUE(notes_.empty());
}

TEST_F(LimitWeightsTest, ALimitThatCannotBeMetIsSaid) {
  EXPECT_GT(weights_within(convolutions(), 0.5), kConstants / 2);
  ASSERT_EQ(notes_.size(), 1U);
  EXPECT_THAT(notes_[0], HasSubstr("; no known programs come within the limit"));
}

// A filter is transformed one dimension after another, and only prepare looks at what lies between.
TEST_F(LimitWeightsTest, WhatOnlyPrepareReadsIsNotKept) {
  const Network network = convolutions();
  options_.weights_limit = 0;
  const auto model = compile_network(network, options_);
  ASSERT_TRUE(model.has_value()) << model.error().to_string();
  int64_t filled = 0;
  int64_t kept = 0;
  for (const ModelLaunch& launch : model->launches) {
    const CompiledTask& kernel = model->kernels[launch.kernel];
    const size_t first = kernel.program.arguments.size();
    for (size_t i = first; i < kernel.module.buffers.size(); ++i) filled += kernel.module.buffers[i].bytes;
    kept += weight_bytes(kernel.program);
  }
  EXPECT_LT(kept, filled);
  EXPECT_GE(model->weights_bytes, kept);
  EXPECT_LT(model->weights_bytes, kept + 4096);
}

// What is wrong with a program shows once it has taken another's place.
TEST_F(LimitWeightsTest, WrongProgramsGiveWayToNaiveOnes) {
  const Network network = convolutions();
  options_.weights_limit = 0;
  const auto transformed = compile_network(network, options_);
  ASSERT_TRUE(transformed.has_value()) << transformed.error().to_string();
  std::vector<std::string> right;
  for (const CompiledTask& kernel : transformed->kernels) right.push_back(kernel.module.object);
  testing::InProcessRunner runner;
  runner.spoil = [&](const Module& module, const MeasureInputs&, const testing::Outputs& outputs) {
    const bool is_other = std::ranges::find(right, module.object) == right.end();
    if (is_other && !module.prepare_symbol.empty()) testing::spoil_element(outputs, 0);
  };
  options_.runner = &runner;
  std::vector<std::string> rejected;
  options_.rejected = [&](const std::string& sentence) { rejected.push_back(sentence); };
  EXPECT_LT(weights_within(network, 1.5), kConstants * 3 / 2 + 4096);
  ASSERT_FALSE(rejected.empty());
  EXPECT_THAT(rejected[0], HasSubstr("the program of trial 0 is not used, wrong_result"));
}

}  // namespace
}  // namespace lathe
