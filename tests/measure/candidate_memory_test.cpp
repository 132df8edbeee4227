// What a candidate takes in its worker.
#include "measure/candidate/candidate_memory.h"

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

TrialRequest with_workspace(int64_t bytes) {
  TrialRequest request;
  request.module.workspace_bytes = bytes;
  return request;
}

TEST(CandidateMemory, OfSomeMegabytesGoesToTheNextCandidateAsNew) {
  constexpr int64_t kBytes = 100'000;
  CandidateMemory memory(-1);
  Result<CandidateMemory::Views> first = memory.arrange(with_workspace(kBytes));
  ASSERT_TRUE(first.has_value()) << first.error().to_string();
  auto* const place = static_cast<unsigned char*>(first->workspace);
  place[0] = 1;
  place[-1] = 2;
  Result<CandidateMemory::Views> beside = memory.arrange(with_workspace(kBytes));
  ASSERT_TRUE(beside.has_value());
  EXPECT_NE(beside->workspace, place) << "one candidate's memory is no other's";
  first->own.clear();
  const Result<CandidateMemory::Views> next = memory.arrange(with_workspace(kBytes));
  ASSERT_TRUE(next.has_value());
  EXPECT_EQ(next->workspace, place);
  EXPECT_EQ(place[0], 0xff);
  EXPECT_FALSE(find_overwritten_slack(next->watched[0].mapping, next->watched[0].layout));
}

TEST(CandidateMemory, OfAnotherSizeIsAnother) {
  CandidateMemory memory(-1);
  for (const int64_t bytes : {int64_t{1000}, int64_t{100'000}, int64_t{20} << 20, int64_t{1000}}) {
    const Result<CandidateMemory::Views> views = memory.arrange(with_workspace(bytes));
    ASSERT_TRUE(views.has_value()) << views.error().to_string();
    EXPECT_EQ(views->watched[0].layout.bytes, bytes);
    EXPECT_EQ(static_cast<unsigned char*>(views->workspace)[bytes - 1], 0xff);
  }
}

}  // namespace
}  // namespace lathe
