// Candidates of a device in the worker: what they do wrong is theirs alone.
#include "measure/candidate/device_candidate.h"

#include <gmock/gmock.h>

#include <cstring>

#include "folders.h"
#include "measure/given_input.h"
#include "measure/measurer.h"
#include "target/gpu/opencl.h"

namespace lathe {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kCount = 1000;

MeasureOptions quick_options() {
  MeasureOptions options;
  options.worker_path = LATHE_BINARY_DIR "/bin/lathe-worker";
  options.timeout_seconds = 60;
  options.timing.sample_seconds = 1e-4;
  return options;
}

// B from A by the text of a kernel's body, in which `i` is the thread's number, `n` how many there are.
Module module_of(const std::string& body) {
  Module module;
  module.form = "opencl";
  module.object =
      "__kernel void work(__global const float* A, __global float* B) {\n  long i = get_global_id(0);\n"
      "  long n = get_global_size(0);\n  " +
      body + "\n}\n";
  module.buffers = {{"A", BufferRole::input, kCount * 4}, {"B", BufferRole::output, kCount * 4}};
  module.kernels = {{"work", kCount / 10, 10, {0, 1}, false}};
  return module;
}

class DeviceCandidates : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!detect_opencl()) GTEST_SKIP() << "there is no OpenCL device";
    for (size_t i = 0; i < input_.size(); ++i) input_[i] = static_cast<float>(i);
    inputs_.buffers = {given_input(1, 1, input_), {}};
    inputs_.check = [this](std::span<const std::span<const std::byte>> outputs) -> Status {
      std::vector<float> got(input_.size());
      std::memcpy(got.data(), outputs[0].data(), outputs[0].size());
      for (size_t i = 0; i < got.size(); ++i) {
        if (got[i] != 2 * input_[i]) return fail(ErrorKind::wrong_result, "B is not twice A");
      }
      return {};
    };
    Result<Measurer> started = Measurer::start(quick_options());
    ASSERT_TRUE(started) << started.error().to_string();
    measurer_.emplace(std::move(*started));
  }

  // The failure of a candidate, after which a right one is measured all the same.
  MeasureFailure failure_of(const std::string& body) {
    const Result<Measurement> measured = measurer_->measure(module_of(body), inputs_);
    EXPECT_TRUE(measured) << measured.error().to_string();
    const Result<Measurement> next = measurer_->measure(module_of("B[i] = 2 * A[i];"), inputs_);
    EXPECT_TRUE(next && next->ok());
    return measured && !measured->ok() ? *measured->failure : MeasureFailure{};
  }

  std::vector<float> input_ = std::vector<float>(kCount);
  MeasureInputs inputs_;
  std::optional<Measurer> measurer_;
};

TEST_F(DeviceCandidates, ARightOneIsTimed) {
  const Result<Measurement> measured = measurer_->measure(module_of("B[i] = 2 * A[i];"), inputs_);
  ASSERT_TRUE(measured) << measured.error().to_string();
  ASSERT_TRUE(measured->ok()) << measured->failure->message;
  EXPECT_GT(measured->seconds, 0);
}

TEST_F(DeviceCandidates, AWrongOneIsFound) {
  EXPECT_EQ(failure_of("B[i] = 3 * A[i];").message, "B is not twice A");
  EXPECT_EQ(failure_of("if (i > 0) B[i] = 2 * A[i];").message, "B is not twice A");
}

TEST_F(DeviceCandidates, AWriteBehindTheEndIsNamed) {
  const MeasureFailure failure = failure_of("B[i + 3] = 2 * A[i];");
  EXPECT_EQ(failure.kind, ErrorKind::wrong_result);
  EXPECT_EQ(failure.message, "B was written behind its end");
}

TEST_F(DeviceCandidates, OneFarOutsideOfItsBuffersEndsNothingElse) {
  const MeasureFailure failure = failure_of("B[i + (1L << 40)] = 2 * A[i];");
  EXPECT_EQ(failure.kind, ErrorKind::crash) << failure.message;
}

TEST_F(DeviceCandidates, AnEndlessOneTakesNoLongerThanItMay) {
  inputs_.timeout_seconds = 2;
  const MeasureFailure failure =
      failure_of("volatile __global float* b = B; while (b[0] != 1e30f) b[i] = 2 * A[i];");
  EXPECT_EQ(failure.kind, ErrorKind::timeout);
  EXPECT_THAT(failure.message, HasSubstr("2"));
}

TEST_F(DeviceCandidates, TextThatIsNoProgramIsAFailureToBuild) {
  EXPECT_EQ(failure_of("B[i] = ").kind, ErrorKind::build);
}

}  // namespace
}  // namespace lathe
