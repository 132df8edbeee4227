// What a candidate takes in its worker.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "folders.h"
#include "measure/given_input.h"
#include "measure/measurer.h"
#include "runtime/c_object.h"

namespace lathe {
namespace {

// In bytes, of one process.
int64_t resident_of(int process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/statm");
  int64_t pages = 0;
  file >> pages >> pages;
  return pages * getpagesize();
}

TEST(CandidateMemory, GoesWithItsCandidate) {
  Result<Measurer> measurer = Measurer::start({.worker_path = LATHE_BINARY_DIR "/bin/lathe-worker"});
  ASSERT_TRUE(measurer.has_value()) << measurer.error().to_string();
  const std::vector<float> input(100, 1);
  MeasureInputs inputs;
  inputs.buffers = {given_input(1, 1, input), {}};
  inputs.timeout_seconds = 60;
  Module module = unary_module("for (int i = 0; i < 100; ++i) B[i] = A[i];", 100);
  ASSERT_TRUE(measurer->measure(module, inputs).value().ok());
  const int worker = measurer->worker_pid();
  const int64_t before = resident_of(worker);
  constexpr int64_t kMuch = int64_t{256} << 20;
  module.workspace_bytes = kMuch;
  EXPECT_TRUE(measurer->measure(module, inputs).value().ok());
  EXPECT_LT(resident_of(worker), before + kMuch / 2);
  EXPECT_FALSE(measurer->verify(module, inputs).value());
  EXPECT_LT(resident_of(worker), before + kMuch / 2);
  EXPECT_EQ(measurer->worker_pid(), worker);
}

}  // namespace
}  // namespace lathe
