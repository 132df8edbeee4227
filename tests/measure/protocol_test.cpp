#include "measure/protocol.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <thread>

#include "base/child.h"

namespace lathe {
namespace {

class MeasureProtocol : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends_.data()), 0); }
  void TearDown() override {
    close(ends_[0]);
    if (ends_[1] >= 0) close(ends_[1]);
  }
  void close_other_end() {
    close(ends_[1]);
    ends_[1] = -1;
  }

  // A message sent and received again.
  template <class T>
  T exchange(T message) {
    EXPECT_TRUE(send_message(ends_[0], message).has_value());
    const Result<Message> received = receive_message(ends_[1], 60);
    EXPECT_TRUE(received.has_value() && std::holds_alternative<T>(*received));
    return std::get<T>(*received);
  }

  std::array<int, 2> ends_{};
};

TEST_F(MeasureProtocol, CarriesATrial) {
  TrialRequest request;
  request.module = {.object = std::string("\0\1\2", 3),
                    .kernel_symbol = "k",
                    .prepare_symbol = "p",
                    .buffers = {{"A", BufferRole::constant, 12}, {"B", BufferRole::prepared, 1 << 30}},
                    .workspace_bytes = 77,
                    .threads = 5};
  request.offsets = {4096, int64_t{1} << 40};
  request.is_timed = true;
  const TrialRequest got = exchange(request);
  EXPECT_EQ(got.module.object, request.module.object);
  EXPECT_EQ(got.module.kernel_symbol, "k");
  EXPECT_EQ(got.module.prepare_symbol, "p");
  ASSERT_EQ(got.module.buffers.size(), 2u);
  EXPECT_EQ(got.module.buffers[0].name, "A");
  EXPECT_EQ(got.module.buffers[0].role, BufferRole::constant);
  EXPECT_EQ(got.module.buffers[1].role, BufferRole::prepared);
  EXPECT_EQ(got.module.buffers[1].bytes, 1 << 30);
  EXPECT_EQ(got.module.workspace_bytes, 77);
  EXPECT_EQ(got.module.threads, 5);
  EXPECT_EQ(got.offsets, request.offsets);
  EXPECT_TRUE(got.is_timed);
}

TEST_F(MeasureProtocol, CarriesTheOtherMessages) {
  EXPECT_EQ(exchange(Greeting{}).version, kProtocolVersion);
  EXPECT_EQ(exchange(FirstRun{0.25}).seconds, 0.25);
  const TimingRequest timing =
      exchange(TimingRequest{{.min_samples = 3, .budget_seconds = 0.5}, 1.5, 0.5, true});
  EXPECT_EQ(timing.timing.min_samples, 3);
  EXPECT_EQ(timing.timing.budget_seconds, 0.5);
  EXPECT_EQ(timing.give_up_seconds, 1.5);
  EXPECT_EQ(timing.rough_seconds, 0.5);
  EXPECT_TRUE(timing.runs_cold);
  const Samples samples = exchange(Samples{{1, 2, 3}, true});
  EXPECT_EQ(samples.seconds, (std::vector<double>{1, 2, 3}));
  EXPECT_TRUE(samples.timed_once);
  const Failure failure = exchange(Failure{ErrorKind::load, "why"});
  EXPECT_EQ(failure.kind, ErrorKind::load);
  EXPECT_EQ(failure.message, "why");
}

TEST_F(MeasureProtocol, CarriesObjectsLargerThanASocketsBuffer) {
  TrialRequest request;
  request.module.object.assign(8 << 20, 'x');
  std::thread sender([&] { EXPECT_TRUE(send_message(ends_[0], request).has_value()); });
  const Result<Message> received = receive_message(ends_[1], 60);
  sender.join();
  ASSERT_TRUE(received.has_value());
  EXPECT_EQ(std::get<TrialRequest>(*received).module.object, request.module.object);
}

TEST_F(MeasureProtocol, SaysWhenNothingComes) {
  const Result<Message> received = receive_message(ends_[0], 0.01);
  ASSERT_FALSE(received.has_value());
  EXPECT_EQ(received.error().kind, ErrorKind::timeout);
}

TEST_F(MeasureProtocol, SaysWhenTheOtherEndIsGone) {
  close_other_end();
  const Result<Message> received = receive_message(ends_[0], 60);
  ASSERT_FALSE(received.has_value());
  EXPECT_EQ(received.error().kind, ErrorKind::crash);
  const Status sent = send_message(ends_[0], Greeting{});
  ASSERT_FALSE(sent.has_value());
  EXPECT_EQ(sent.error().message, "cannot reach the worker: Broken pipe");
}

TEST_F(MeasureProtocol, RefusesWhatIsNoMessage) {
  const std::vector<std::array<uint64_t, 4>> damaged = {
      {99, 16, 0, 0},                 // an unknown kind
      {0, uint64_t{1} << 60, 0, 0},   // an absurd length
      {0, 16, 1, 2},                  // more than the fields
      {5, 16, 0, uint64_t{1} << 50},  // a string longer than the payload
      {4, 16, uint64_t{1} << 50, 0},  // a list longer than the payload
  };
  for (const auto& words : damaged) {
    std::array<int, 2> pair{};
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()), 0);
    ASSERT_EQ(write(pair[0], words.data(), sizeof words), static_cast<ssize_t>(sizeof words));
    const Result<Message> received = receive_message(pair[1], 60);
    ASSERT_FALSE(received.has_value()) << words[0];
    EXPECT_EQ(received.error().message, "the worker and its parent do not understand each other");
    close(pair[0]);
    close(pair[1]);
  }
}

// Ctrl-Z stops the worker too: it had no time to answer.
TEST_F(MeasureProtocol, TheTimeOfAStoppedProcessDoesNotCount) {
  const pid_t waiting = start_child([&] { return receive_message(ends_[0], 2).has_value() ? 0 : 1; });
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  kill(waiting, SIGSTOP);
  std::this_thread::sleep_for(std::chrono::milliseconds(3500));
  kill(waiting, SIGCONT);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_TRUE(send_message(ends_[1], FirstRun{}).has_value());
  EXPECT_EQ(exit_status(waiting), 0);
}

}  // namespace
}  // namespace lathe
