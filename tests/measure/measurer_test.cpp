#include "measure/measurer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fstream>
#include <thread>

#include "folders.h"
#include "measure/given_input.h"
#include "runtime/c_object.h"
#include "target/detect.h"

namespace lathe {
namespace {

constexpr int64_t kCount = 1000;
constexpr const char* kDouble = "for (int i = 0; i < 1000; ++i) B[i] = 2 * A[i];";

std::vector<float> test_input() {
  std::vector<float> values(kCount);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) + 1;
  return values;
}

// What a caller compares with: element by element, naming the first that differs.
Status check_doubled(std::span<const std::span<const std::byte>> outputs) {
  const std::vector<float> input = test_input();
  for (size_t i = 0; i < input.size(); ++i) {
    float got = 0;
    std::memcpy(&got, outputs[0].data() + i * sizeof got, sizeof got);
    if (got == 2 * input[i]) continue;
    return fail(ErrorKind::wrong_result, fmt::format("B[{}] is {}, expected {}", i, got, 2 * input[i]));
  }
  return {};
}

MeasureOptions quick_options() {
  MeasureOptions options;
  options.worker_path = LATHE_BINARY_DIR "/bin/lathe-worker";
  options.timeout_seconds = 60;  // what is not about time must not fail on a slow machine
  options.timing.sample_seconds = 1e-4;
  return options;
}

class MeasureCandidates : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<Measurer> started = Measurer::start(quick_options());
    ASSERT_TRUE(started.has_value()) << started.error().to_string();
    measurer_.emplace(std::move(*started));
  }

  MeasureInputs inputs_for(const Module& module) const {
    MeasureInputs inputs;
    inputs.buffers.resize(module.buffers.size());
    inputs.buffers[0] = given_input(1, 1, input_);
    inputs.check = check_doubled;
    return inputs;
  }

  Measurement measure(const Module& module, const MeasureInputs& inputs) {
    Result<Measurement> measurement = measurer_->measure(module, inputs);
    EXPECT_TRUE(measurement.has_value()) << measurement.error().to_string();
    return measurement.value_or(failed_measurement(ErrorKind::io, "nothing was measured"));
  }
  Measurement measure(const Module& module) { return measure(module, inputs_for(module)); }

  // The named failure of a bad candidate; the good one that follows it must be measured well.
  MeasureFailure failure_then_success(const Module& bad) {
    const Measurement failed = measure(bad);
    EXPECT_TRUE(measure(unary_module(kDouble, kCount)).ok());
    return failed.failure.value_or(MeasureFailure{ErrorKind::invalid_argument, "no failure"});
  }

  std::vector<float> input_ = test_input();
  std::optional<Measurer> measurer_;
};

TEST_F(MeasureCandidates, AGoodKernelIsTimed) {
  const Measurement measurement = measure(unary_module(kDouble, kCount));
  ASSERT_TRUE(measurement.ok()) << measurement.failure->message;
  EXPECT_GE(measurement.samples.size(), static_cast<size_t>(kFewestSamples));
  EXPECT_GT(measurement.seconds, 0);
  EXPECT_GE(measurement.spread, 0);
  EXPECT_FALSE(measurement.timed_once);
  EXPECT_EQ(measurement.source, MeasureSource::measured);
}

TEST_F(MeasureCandidates, PreparedBuffersAreFilledBeforeAnyRun) {
  Module module =
      unary_module("float* P = buffers[2]; for (int i = 0; i < 1000; ++i) B[i] = P[i];", kCount,
                   "int prepare(void* const* buffers, const int64_t* sizes, void* workspace,\n"
                   "            const LatheParallel* pool) {\n"
                   "  for (int i = 0; i < 1000; ++i) ((float*)buffers[2])[i] = 2 * ((float*)buffers[0])[i];\n"
                   "  return 0;\n}\n");
  module.prepare_symbol = "prepare";
  module.buffers[0].role = BufferRole::constant;
  module.buffers.push_back({"P", BufferRole::prepared, kCount * 4});
  const Measurement measurement = measure(module);
  EXPECT_TRUE(measurement.ok()) << measurement.failure->message;
}

TEST_F(MeasureCandidates, WrongNumbersAreNamed) {
  const MeasureFailure failure =
      failure_then_success(unary_module(std::string(kDouble) + " B[17] = 3;", kCount));
  EXPECT_EQ(failure, (MeasureFailure{ErrorKind::wrong_result, "B[17] is 3, expected 36"}));
}

TEST_F(MeasureCandidates, OutputsThatAreNeverWrittenAreNan) {
  const MeasureFailure failure = failure_then_success(unary_module("", kCount));
  EXPECT_EQ(failure.kind, ErrorKind::wrong_result);
  EXPECT_NE(failure.message.find("nan, expected 2"), std::string::npos) << failure.message;
}

TEST_F(MeasureCandidates, VerifyRunsOnceAndChecks) {
  const Module right = unary_module(kDouble, kCount);
  const auto passed = measurer_->verify(right, inputs_for(right));
  ASSERT_TRUE(passed.has_value()) << passed.error().to_string();
  EXPECT_FALSE(passed->has_value()) << (*passed)->message;

  const Module wrong = unary_module(std::string(kDouble) + " B[17] = 3;", kCount);
  const auto failed = measurer_->verify(wrong, inputs_for(wrong));
  ASSERT_TRUE(failed.has_value()) << failed.error().to_string();
  EXPECT_EQ(*failed, (MeasureFailure{ErrorKind::wrong_result, "B[17] is 3, expected 36"}));

  // A second run would hang.
  const Module once = unary_module(
      std::string(kDouble) + " static int runs; volatile int on = runs++; while (on) {}", kCount);
  const auto run_once = measurer_->verify(once, inputs_for(once));
  ASSERT_TRUE(run_once.has_value()) << run_once.error().to_string();
  EXPECT_FALSE(run_once->has_value()) << (*run_once)->message;
  EXPECT_TRUE(measure(right).ok());
}

TEST_F(MeasureCandidates, AnEndlessLoopIsATimeout) {
  MeasureInputs inputs = inputs_for(unary_module(kDouble, kCount));
  inputs.timeout_seconds = 0.3;
  const Measurement failed = measure(unary_module("volatile int on = 1; while (on) {}", kCount), inputs);
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(*failed.failure, (MeasureFailure{ErrorKind::timeout,
                                             "the kernel was still not done after 0.3 s, in its first run"}));
  EXPECT_TRUE(measure(unary_module(kDouble, kCount)).ok());
}

TEST_F(MeasureCandidates, ALongRunLeavesItsCallerTime) {
  int waits = 0;
  const std::string hang = std::string(kDouble) + " static int runs; volatile int on = runs++ == ";
  for (const char* slow_run : {"0", "1"}) {
    const Module module = unary_module(hang + slow_run + "; while (on) {}", kCount);
    MeasureInputs inputs = inputs_for(module);
    inputs.timeout_seconds = 2 * kLongWaitSeconds;
    inputs.on_long_wait = [&] { ++waits; };
    EXPECT_EQ(measure(module, inputs).failure->kind, ErrorKind::timeout);
    inputs.timeout_seconds = 3600;  // but for whoever stops it
    inputs.stop = [asked = 0]() mutable { return ++asked == 2; };
    EXPECT_EQ(measure(module, inputs).failure->kind, ErrorKind::timeout);
  }
  EXPECT_EQ(waits, 4);
}

TEST_F(MeasureCandidates, ALongFirstRunIsTheTimeWhereNoneIsLeft) {
  const std::string work = std::string(kDouble) + " for (volatile int i = 0; i < 20000000; ++i) {}";
  MeasureInputs inputs = inputs_for(unary_module(work, kCount));
  EXPECT_FALSE(measure(unary_module(work, kCount), inputs).timed_once);
  inputs.seconds_left = 1e-3;
  EXPECT_TRUE(measure(unary_module(work, kCount), inputs).timed_once);
}

TEST_F(MeasureCandidates, AHangInALaterRunIsATimeoutToo) {
  const Module module = unary_module(
      std::string(kDouble) + " static int runs; volatile int on = runs++; while (on) {}", kCount);
  MeasureInputs inputs = inputs_for(module);
  inputs.timeout_seconds = 0.3;
  const Measurement failed = measure(module, inputs);
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.failure->kind, ErrorKind::timeout);
  EXPECT_NE(failed.failure->message.find("in a later run"), std::string::npos) << failed.failure->message;
}

TEST_F(MeasureCandidates, WritesFarPastABufferAreNamed) {
  const MeasureFailure failure =
      failure_then_success(unary_module("volatile float* p = B; p[1003] = 1; p[1039] = 1;", kCount));
  EXPECT_EQ(failure, (MeasureFailure{ErrorKind::crash,
                                     "the kernel was ended by SIGSEGV in its first run: it wrote "
                                     "outside its buffers, 157 bytes past the end of buffer 'B'"}));
}

TEST_F(MeasureCandidates, WritesJustPastABufferAreNamed) {
  const MeasureFailure failure =
      failure_then_success(unary_module(std::string(kDouble) + " ((volatile float*)B)[1001] = 1;", kCount));
  EXPECT_EQ(failure,
            (MeasureFailure{ErrorKind::wrong_result,
                            "the kernel wrote outside its buffers, 5 bytes past the end of buffer 'B'"}));
}

TEST_F(MeasureCandidates, ReadsBeforeABufferAreNamed) {
  const MeasureFailure failure =
      failure_then_success(unary_module("B[0] = ((volatile float*)A)[-5000];", kCount));
  EXPECT_EQ(failure, (MeasureFailure{ErrorKind::crash,
                                     "the kernel was ended by SIGSEGV in its first run: it read "
                                     "outside its buffers, 20000 bytes before the start of buffer "
                                     "'A'"}));
}

TEST_F(MeasureCandidates, WritesToAnInputAreNamed) {
  const MeasureFailure failure = failure_then_success(unary_module("((volatile float*)A)[3] = 1;", kCount));
  EXPECT_EQ(failure, (MeasureFailure{ErrorKind::crash,
                                     "the kernel was ended by SIGSEGV in its first run: it wrote at "
                                     "byte 12 of buffer 'A', which it may only read"}));
}

TEST_F(MeasureCandidates, WritesPastTheWorkspaceAreNamed) {
  Module module = unary_module("((volatile char*)workspace)[256] = 1;", kCount);
  module.workspace_bytes = 256;
  EXPECT_EQ(failure_then_success(module).message,
            "the kernel was ended by SIGSEGV in its first run: it wrote outside its buffers, 1 byte past the "
            "end of "
            "the workspace");
}

TEST_F(MeasureCandidates, WildAddressesAreNamed) {
  EXPECT_EQ(
      failure_then_success(unary_module("*(volatile char*)8 = 1;", kCount)).message,
      "the kernel was ended by SIGSEGV in its first run: it wrote at an address far from all its buffers");
}

TEST_F(MeasureCandidates, OtherSignalsAreNamed) {
  EXPECT_EQ(failure_then_success(unary_module("volatile int zero = 0; B[0] = 7 / zero;", kCount)).message,
            "the kernel was ended by SIGFPE in its first run");
  EXPECT_EQ(failure_then_success(unary_module("__builtin_trap();", kCount)).message,
            "the kernel was ended by SIGILL in its first run");
}

TEST_F(MeasureCandidates, CrashesWhileConstantsArePreparedAreNamed) {
  Module module = unary_module(kDouble, kCount,
                               "int prepare(void* const* buffers, const int64_t* sizes, void* workspace,\n"
                               "            const LatheParallel* pool) { __builtin_trap(); }\n");
  module.prepare_symbol = "prepare";
  EXPECT_EQ(failure_then_success(module).message,
            "the kernel was ended by SIGILL while it prepared its constants");
}

TEST_F(MeasureCandidates, AStackThatOverflowsIsNamed) {
  const std::string before =
      "int dig(volatile char* at) { volatile char more[4096]; more[0] = *at;\n"
      "  return dig(more) + more[1]; }\n";
  EXPECT_EQ(
      failure_then_success(unary_module("char c = 1; B[0] = dig(&c);", kCount, before)).message,
      "the kernel was ended by SIGSEGV in its first run: it wrote at an address far from all its buffers");
}

TEST_F(MeasureCandidates, AKernelThatExitsIsNamed) {
  const std::string exits = "__asm__ volatile(\"syscall\" :: \"a\"(231), \"D\"(9));";  // exit_group(9)
  EXPECT_EQ(
      failure_then_success(unary_module(exits, kCount)),
      (MeasureFailure{ErrorKind::crash, "the kernel ended its process with exit status 9 in its first run"}));
}

TEST_F(MeasureCandidates, UnknownSymbolsAreLoadFailures) {
  EXPECT_EQ(
      failure_then_success(unary_module("B[0] = tanhf(A[0]);", kCount, "float tanhf(float);")),
      (MeasureFailure{
          ErrorKind::load,
          "the object refers to the symbol 'tanhf': only memcpy, memset and functions of f64 are provided"}));
}

TEST_F(MeasureCandidates, KernelsThatReportAnErrorFail) {
  EXPECT_EQ(failure_then_success(unary_module("return 4;", kCount)),
            (MeasureFailure{ErrorKind::invalid_program, "the kernel ended with status 4 in place of 0"}));
}

TEST_F(MeasureCandidates, ACandidateFarBehindTheBestIsTimedOnce) {
  const Module module = unary_module(kDouble, kCount);
  MeasureInputs inputs = inputs_for(module);
  inputs.best_seconds = 1e-12;
  const Measurement behind = measure(module, inputs);
  EXPECT_TRUE(behind.timed_once);
  EXPECT_EQ(behind.samples.size(), 1u);
  inputs.best_seconds = 1e3;
  EXPECT_FALSE(measure(module, inputs).timed_once);
}

// Follows a chain of places through A, a cache line each: some nanoseconds a step where A is in a cache, some
// hundred where it is not.
TEST_F(MeasureCandidates, ConstantsOfWhatRunsColdAreReadFromMemoryAndInputsFromCaches) {
  constexpr int64_t kLines = 2048;
  std::vector<float> chain(kLines * 16);
  for (int64_t line = 0; line < kLines; ++line) {
    chain[static_cast<size_t>(line * 16)] = static_cast<float>((line * 1021 + 7) % kLines);
  }
  const auto fastest = [&](BufferRole role, bool runs_cold) {
    Module module = unary_module("int at = 0; for (int i = 0; i < 2048; ++i) at = A[16 * at]; B[0] = at;",
                                 static_cast<int64_t>(chain.size()));
    module.buffers[0].role = role;
    MeasureInputs inputs;
    inputs.buffers.resize(2);
    inputs.buffers[0] = given_input(9, 1, chain);
    inputs.runs_cold = runs_cold;
    double seconds = 1;
    for (int round = 0; round < 3; ++round) {
      const Measurement measured = measure(module, inputs);
      EXPECT_TRUE(measured.ok());
      EXPECT_GE(measured.samples.size(), static_cast<size_t>(kFewestSamples));
      seconds = std::min(seconds, measured.seconds);
    }
    return seconds;
  };
  const double cold = fastest(BufferRole::constant, true);
  EXPECT_GT(cold, 2 * fastest(BufferRole::constant, false));
  EXPECT_GT(cold, 2 * fastest(BufferRole::input, true));
}

TEST(MeasureRoughly, ACandidateBehindTheBestGetsFewSamples) {
  MeasureOptions options = quick_options();
  options.rough_ratio = 2;
  options.give_up_ratio = 0;
  Result<Measurer> measurer = Measurer::start(options);
  ASSERT_TRUE(measurer.has_value()) << measurer.error().to_string();
  const Module module = unary_module(kDouble, kCount);
  const std::vector<float> input = test_input();
  MeasureInputs inputs;
  inputs.buffers.resize(module.buffers.size());
  inputs.buffers[0] = given_input(1, 1, input);
  inputs.best_seconds = 1e-12;
  const Result<Measurement> behind = measurer->measure(module, inputs);
  ASSERT_TRUE(behind.has_value() && behind->ok());
  EXPECT_FALSE(behind->timed_once);
  EXPECT_EQ(behind->samples.size(), static_cast<size_t>(kFewestSamples));
}

TEST_F(MeasureCandidates, AWorkerThatWasKilledIsReplaced) {
  const int first = measurer_->worker_pid();
  ASSERT_EQ(kill(first, SIGKILL), 0);
  EXPECT_TRUE(measure(unary_module(kDouble, kCount)).ok());
  EXPECT_NE(measurer_->worker_pid(), first);
}

// Ctrl-C reaches every process of a terminal, and `timeout` every process of its group.
TEST_F(MeasureCandidates, AWorkerLeavesItToItsParentWhenToEnd) {
  const int worker = measurer_->worker_pid();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ASSERT_EQ(kill(worker, signal), 0);
  EXPECT_TRUE(measure(unary_module(kDouble, kCount)).ok());
  EXPECT_EQ(measurer_->worker_pid(), worker);
}

TEST_F(MeasureCandidates, ANewGenerationOfAnInputIsSeen) {
  const Module module = unary_module(kDouble, kCount);
  MeasureInputs inputs = inputs_for(module);
  EXPECT_TRUE(measure(module, inputs).ok());
  std::vector<float> zeros(kCount, 0);
  inputs.buffers[0] = given_input(1, 1, zeros);
  EXPECT_TRUE(measure(module, inputs).ok()) << "the same generation is not written again";
  inputs.buffers[0].generation = 2;
  EXPECT_EQ(measure(module, inputs).failure->message, "B[0] is 0, expected 2");
}

TEST_F(MeasureCandidates, BytesThatDoNotFitAreTheCallersError) {
  const Module module = unary_module(kDouble, kCount);
  MeasureInputs inputs = inputs_for(module);
  inputs.buffers[0].bytes = 8;
  const Result<Measurement> short_input = measurer_->measure(module, inputs);
  ASSERT_FALSE(short_input.has_value());
  EXPECT_EQ(short_input.error().message, "buffer 'A' has 4000 bytes, 8 are given");
  inputs.buffers.pop_back();
  const Result<Measurement> one_missing = measurer_->measure(module, inputs);
  ASSERT_FALSE(one_missing.has_value());
  EXPECT_EQ(one_missing.error().message, "the module has 2 buffers, bytes are given for 1");
}

TEST(MeasureStart, ARunOnSeveralCoresUsesThePool) {
  MeasureOptions options = quick_options();
  options.cores = static_cast<int>(allowed_cpus().size());
  Result<Measurer> measurer = Measurer::start(options);
  ASSERT_TRUE(measurer.has_value()) << measurer.error().to_string();
  const std::string before =
      "static void part(void* context, int64_t begin, int64_t end, int32_t thread) {\n"
      "  void* const* buffers = context;\n"
      "  for (int64_t i = begin; i < end; ++i) ((float*)buffers[1])[i] = 2 * ((const "
      "float*)buffers[0])[i];\n}\n";
  Module module = unary_module("pool->run(pool, part, (void*)buffers, 1000);", kCount, before);
  module.threads = options.cores;
  if (options.cores == 1) module = unary_module(kDouble, kCount);
  const std::vector<float> input = test_input();
  MeasureInputs inputs;
  inputs.buffers = {given_input(1, 0, input), {}};
  inputs.check = check_doubled;
  const Result<Measurement> measurement = measurer->measure(module, inputs);
  ASSERT_TRUE(measurement.has_value());
  EXPECT_TRUE(measurement->ok()) << measurement->failure->message;
}

TEST(MeasureStart, AFaultOnAnotherThreadOfThePoolIsNamed) {
  MeasureOptions options = quick_options();
  options.cores = static_cast<int>(allowed_cpus().size());
  if (options.cores == 1) GTEST_SKIP() << "needs two cpus";
  Result<Measurer> measurer = Measurer::start(options);
  ASSERT_TRUE(measurer.has_value());
  const std::string before =
      "static void part(void* context, int64_t begin, int64_t end, int32_t thread) {\n"
      "  void* const* buffers = context;\n"
      "  if (thread == 1) ((volatile char*)buffers[1])[4032] = 1;\n"
      "  for (volatile int i = 0; thread == 0 && i < 1000000; ++i);\n}\n";  // or it would do all
  Module module = unary_module("pool->run(pool, part, (void*)buffers, 1000);", kCount, before);
  module.threads = options.cores;
  const std::vector<float> input = test_input();
  MeasureInputs inputs;
  inputs.buffers = {given_input(1, 0, input), {}};
  const Result<Measurement> measurement = measurer->measure(module, inputs);
  ASSERT_TRUE(measurement.has_value() && !measurement->ok());
  EXPECT_EQ(measurement->failure->message,
            "the kernel was ended by SIGSEGV in its first run: it wrote outside its buffers, 33 bytes past "
            "the end of "
            "buffer 'B'");
}

TEST(MeasureStart, NamesAWorkerThatIsNotThere) {
  MeasureOptions options = quick_options();
  options.worker_path = "/nowhere/lathe-worker";
  const Result<Measurer> measurer = Measurer::start(options);
  ASSERT_FALSE(measurer.has_value());
  EXPECT_EQ(measurer.error().kind, ErrorKind::io);
  EXPECT_EQ(measurer.error().message,
            "cannot start the worker '/nowhere/lathe-worker': No such file or directory");
}

TEST(MeasureStart, NamesAWorkerThatIsNone) {
  MeasureOptions options = quick_options();
  options.worker_path = "/bin/true";
  const Result<Measurer> measurer = Measurer::start(options);
  ASSERT_FALSE(measurer.has_value());
  EXPECT_EQ(measurer.error().message, "'/bin/true' does not answer as this version's worker");
}

TEST(MeasureStart, RefusesMoreCoresThanCpus) {
  MeasureOptions options = quick_options();
  options.cpus = {0};
  options.cores = 3;
  const Result<Measurer> measurer = Measurer::start(options);
  ASSERT_FALSE(measurer.has_value());
  EXPECT_EQ(measurer.error().message,
            "cannot measure on 3 cores: this process may use 1 of the machine's cpus");
}

// True once the process is gone or a zombie that its new parent has not collected yet.
bool has_ended(int pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string stat((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const size_t state = stat.rfind(") ");
  return state == std::string::npos || stat[state + 2] == 'Z';
}

// Starts a measurer in a process of its own, has it measure an endless candidate if asked, kills that
// process, and expects the worker to be gone soon.
void expect_worker_ends_with_parent(bool is_busy) {
  const Module endless = unary_module("volatile int on = 1; while (on) {}", kCount);
  std::array<int, 2> report{};
  ASSERT_EQ(pipe(report.data()), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    Result<Measurer> measurer = Measurer::start(quick_options());
    const int worker = measurer.has_value() ? measurer->worker_pid() : -1;
    if (write(report[1], &worker, sizeof worker) != sizeof worker) _exit(1);
    const std::vector<float> input = test_input();
    MeasureInputs inputs;
    inputs.buffers = {given_input(1, 0, input), {}};
    if (is_busy && measurer.has_value()) static_cast<void>(measurer->measure(endless, inputs));
    pause();
    _exit(0);
  }
  int worker = -1;
  ASSERT_EQ(read(report[0], &worker, sizeof worker), static_cast<ssize_t>(sizeof worker));
  ASSERT_GT(worker, 0);
  if (is_busy)
    usleep(100000);  // the worker is in the endless candidate by then; if not, the test is only easier
  EXPECT_FALSE(has_ended(worker));
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  for (int i = 0; i < 1000 && !has_ended(worker); ++i) usleep(10000);
  EXPECT_TRUE(has_ended(worker));
  close(report[0]);
  close(report[1]);
}

TEST(MeasureParent, AnIdleWorkerEndsWithItsParent) { expect_worker_ends_with_parent(false); }

TEST(MeasureParent, ABusyWorkerEndsWithItsParent) { expect_worker_ends_with_parent(true); }

}  // namespace
}  // namespace lathe
