// How the sizes of a network share the room for their constants goes by what each loses without its own
// packing.
#include "artifact/share_packing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "artifact/artifact_fixture.h"
#include "artifact/compile_tasks.h"
#include "graph/onnx/models.h"
#include "tune/in_process_runner.h"
#include "tune/smaller_traces.h"

namespace lathe {
namespace {

// A convolution whose program of the largest batch transforms its filters and whose programs of smaller
// batches do not.
class SharePackingTest : public ArtifactTest {
 protected:
  void SetUp() override {
    ArtifactTest::SetUp();
    if (IsSkipped()) return;
    OnnxModel onnx;
    onnx.input("x", {8, 64, 28, 28}).initializer("w", {64, 64, 3, 3});
    onnx.node("n", "Conv", {"x", "w"}, "y").attribute("pads", {1, 1, 1, 1}).output("y");
    std::ofstream(folder("net.onnx"), std::ios::binary) << onnx.bytes();
    OnnxImportOptions import;
    import.input_shapes = {{"x", {8, 64, 28, 28}}};
    network_ =
        load_network(folder("net.onnx"), import, options_.target, false, {{{"x", {{0, "", 1, 8}}}}, {}})
            .value();
    options_.runner = &runner_;
    options_.weights_limit = 0;
    largest_ = network_.tasks.uses.front().task;
    programs_ = compile_tasks(network_, options_).value();
    const int64_t bytes = weight_bytes(programs_[largest_].program);
    ASSERT_TRUE(keeps_more_than_constants(programs_[largest_].task, bytes));
    for (size_t i = 0; i < programs_.size(); ++i)
      if (i != largest_) programs_[i] = plain(i);
    ASSERT_GT(programs_.size(), 2U);
  }

  CompiledTask plain(size_t number) {
    const Task& task = network_.tasks.tasks[number].task;
    const auto smaller = smaller_traces(task, nullptr, std::numeric_limits<int64_t>::max());
    CompiledTask program =
        compile_task(task, *smaller->traces.back().chosen.trace, std::nullopt, number).value();
    program.checked = Checked::full;
    return program;
  }

  // Which packings there are where a program that transforms takes so many seconds beside one that does not,
  // of the largest batch and of the others.
  std::set<std::string> packings(double of_largest, double of_smaller, double limit) {
    options_.weights_limit = limit;
    const RacePrograms race = [&](std::span<const CompiledTask> raced, const Deadline&) {
      std::vector<double> seconds;
      for (const CompiledTask& program : raced) {
        const bool is_largest = hash_of(program.task) == hash_of(network_.tasks.tasks[largest_].task);
        const bool transforms = keeps_more_than_constants(program.task, weight_bytes(program.program));
        seconds.push_back(!transforms ? 1.0 : is_largest ? of_largest : of_smaller);
      }
      return Result<std::optional<std::vector<double>>>(std::move(seconds));
    };
    shared_ = programs_;
    EXPECT_TRUE(share_packing(network_, options_, shared_, race).has_value());
    std::set<std::string> texts;
    for (const CompiledTask& program : shared_) texts.insert(packing_of(program));
    return texts;
  }

  // For a second packing, but for the transformed filters.
  double no_room() const {
    constexpr double kConstants = 64 * 64 * 9 * 4;
    return static_cast<double>(weight_bytes(programs_[largest_].program)) / kConstants + 0.1;
  }

  bool largest_transforms() const { return packing_of(shared_[largest_]) == packing_of(programs_[largest_]); }

  testing::InProcessRunner runner_;
  Network network_;
  size_t largest_ = 0;
  std::vector<CompiledTask> programs_;
  std::vector<CompiledTask> shared_;
};

constexpr double kRoom = 100;

TEST_F(SharePackingTest, AllPackAsTheLargestWhereTheyLoseLittle) {
  EXPECT_EQ(packings(0.5, 1.1, kRoom).size(), 1U);
  EXPECT_TRUE(largest_transforms());
}

TEST_F(SharePackingTest, WhereThereIsRoomEachHasWhatIsFastest) {
  EXPECT_GT(packings(0.9, 2, kRoom).size(), 1U);
  EXPECT_TRUE(largest_transforms());
}

TEST_F(SharePackingTest, WithoutRoomTheLargestGivesWayWhereTheOthersLoseMore) {
  packings(0.9, 2, no_room());
  EXPECT_FALSE(largest_transforms());
  for (const CompiledTask& program : shared_)
    EXPECT_FALSE(keeps_more_than_constants(program.task, weight_bytes(program.program)));
}

TEST_F(SharePackingTest, WithoutRoomTheOthersGiveWayWhereTheLargestLosesMore) {
  EXPECT_EQ(packings(0.1, 1.3, no_room()).size(), 1U);
  EXPECT_TRUE(largest_transforms());
}

TEST_F(SharePackingTest, WhoGivesARecordedProgramUpIsTunedAllTheSame) {
  for (CompiledTask& program : programs_) program.record = 1;
  packings(0.5, 1.1, kRoom);
  for (const CompiledTask& program : shared_)
    EXPECT_NE(program.record.has_value(), program.goes_before_records);
}

// Programs of smaller batches that transform are wrong, so both packings would be in memory.
TEST_F(SharePackingTest, WithoutRoomTheLargestGivesWayToThoseThatCannotPackAsItDoes) {
  const int64_t transformed = weight_bytes(programs_[largest_].program);
  const int64_t batch = programs_[largest_].module.buffers.back().bytes;
  runner_.spoil = [=](const Module& module, const MeasureInputs&, const testing::Outputs& outputs) {
    int64_t kept = 0;
    for (const ModuleBuffer& buffer : module.buffers)
      if (buffer.role == BufferRole::prepared) kept += buffer.bytes;
    const bool is_smaller = std::ssize(outputs.front()) < batch;
    if (is_smaller && kept >= transformed) testing::spoil_element(outputs, 0);
  };
  packings(0.1, 1, no_room());
  EXPECT_FALSE(largest_transforms());
  packings(0.1, 1, kRoom);
  EXPECT_TRUE(largest_transforms());
}

// Nothing is measured then.
TEST_F(SharePackingTest, WithoutARunnerAllPackAsTheLargest) {
  options_.runner = nullptr;
  EXPECT_EQ(packings(0.9, 2, kRoom).size(), 1U);
  EXPECT_TRUE(largest_transforms());
}

}  // namespace
}  // namespace lathe
