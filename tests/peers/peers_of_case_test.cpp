// Which cases peers are asked for at all, and in which order their forms answer.
#include <gtest/gtest.h>

#include "peers/fake_peers.h"
#include "peers/measure_peers.h"
#include "target/all.h"
#include "target/detect.h"

namespace lathe::testing {
namespace {

class PeersOfCaseTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<std::vector<Peer>> peers = load_peers({fake_peer("fake")});
    ASSERT_TRUE(peers.has_value()) << peers.error().to_string();
    peers_ = std::move(*peers);
  }
  Result<PeersOfCase> opened(const std::string& text) const {
    const std::string entry = R"([{"name": "case", "op": "expression", "text": ")" + text + "\"}]";
    return PeersOfCase::open(peers_, parse_workloads(entry, "test")->front(), generic_target("x86-avx2"),
                             cpus_);
  }

  std::vector<Peer> peers_;
  std::vector<int> cpus_ = {allowed_cpus().front()};
};

TEST_F(PeersOfCaseTest, FormsAnswerInTheirOrder) {
  Result<PeersOfCase> of_case = opened("C[i:50] = A[i] + B[i]");
  ASSERT_TRUE(of_case.has_value()) << of_case.error().to_string();
  PeersOfCase moved = std::move(*of_case);
  const std::vector<PeerMeasurement> measured = moved.measure();
  ASSERT_EQ(measured.size(), peers_[0].forms().size());
  for (size_t i = 0; i < measured.size(); ++i) {
    EXPECT_EQ(measured[i].form, peers_[0].forms()[i].name);
    // It takes one input.
    ASSERT_FALSE(measured[i].measurement.ok());
    EXPECT_EQ(measured[i].measurement.failure->kind, ErrorKind::unsupported);
    EXPECT_EQ(measured[i].measurement.failure->message, "it doubles vectors and does nothing else");
  }
}

// The plug-in is told how many threads it may use: as many as cpus.
TEST_F(PeersOfCaseTest, ThreadsAreAsManyAsCpus) {
  cpus_ = {allowed_cpus().front(), allowed_cpus().front()};
  const std::vector<PeerMeasurement> measured = opened("C[i:50] = A[i] * 2")->measure();
  EXPECT_EQ(measured.front().measurement.failure->message, "it has one thread");
}

TEST_F(PeersOfCaseTest, CasesThatNoPeerTakesAreNotPutToThem) {
  for (const char* text : {"C[i:50] = A[i] * 2  D[i:50] = A[i] + 1.0", "input A[50] f64 C[i:50] = A[i] * 2.0",
                           "input A[50] i32 C[i:50] = f32(A[i])"}) {
    Result<PeersOfCase> of_case = opened(text);
    ASSERT_TRUE(of_case.has_value()) << of_case.error().to_string();
    for (const PeerMeasurement& form : of_case->measure()) {
      EXPECT_EQ(form.measurement.failure->kind, ErrorKind::unsupported);
      EXPECT_EQ(form.measurement.failure->message,
                "peers take cases with one output whose tensors are all of type f32")
          << text;
    }
  }
}

TEST_F(PeersOfCaseTest, WithoutPeersNothingIsMeasured) {
  peers_.clear();
  EXPECT_TRUE(opened("C[i:50] = A[i] * 2")->measure().empty());
}

}  // namespace
}  // namespace lathe::testing
