// Which forms of a peer get a figure, and what is said of the others.
#include "peers/measure_peers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "peers/fake_peers.h"
#include "target/detect.h"

namespace lathe::testing {
namespace {

using ::testing::MatchesRegex;

Workload workload_of(const std::string& entry) {
  Result<std::vector<Workload>> workloads = parse_workloads("[" + entry + "]", "test");
  EXPECT_TRUE(workloads.has_value());
  return std::move(workloads->front());
}

// What the fake peer's forms come to, by their names.
std::map<std::string, Measurement> measure_fake(const std::string& entry) {
  const Result<std::vector<Peer>> peers = load_peers({fake_peer("fake")});
  EXPECT_TRUE(peers.has_value());
  const std::vector<int> cpus = {allowed_cpus().front()};
  Result<PeersOfCase> opened = PeersOfCase::open(*peers, workload_of(entry), detect_target().value(), cpus);
  EXPECT_TRUE(opened.has_value()) << opened.error().to_string();
  std::map<std::string, Measurement> by_form;
  for (const PeerMeasurement& form : opened->measure()) by_form[form.form] = form.measurement;
  return by_form;
}

constexpr const char* kDoubling = R"({"name": "twice", "op": "expression", "text": "O[i:50] = A[i] * 2"})";

TEST(MeasurePeers, TimesWhatIsRight) {
  if (!detect_target()) GTEST_SKIP();
  std::map<std::string, Measurement> measured = measure_fake(kDoubling);
  for (const char* form : {"fake", "fake_winograd"}) {
    EXPECT_TRUE(measured[form].ok()) << form << ": " << measured[form].failure->message;
    EXPECT_GT(measured[form].seconds, 0) << form;
    EXPECT_GE(measured[form].samples.size(), 3u) << form;
  }
}

TEST(MeasurePeers, NamesWhatIsWrong) {
  if (!detect_target()) GTEST_SKIP();
  std::map<std::string, Measurement> measured = measure_fake(kDoubling);
  const auto message = [&](const char* form, ErrorKind kind) {
    const Measurement& measurement = measured[form];
    EXPECT_FALSE(measurement.ok()) << form;
    EXPECT_EQ(measurement.seconds, 0) << form;
    if (measurement.ok()) return std::string();
    EXPECT_EQ(measurement.failure->kind, kind) << form;
    return measurement.failure->message;
  };
  EXPECT_THAT(message("fake_wrong", ErrorKind::wrong_result),
              MatchesRegex("O\\[49\\] is [0-9.-]+ where the reference is [0-9.-]+"));
  EXPECT_THAT(message("fake_rough", ErrorKind::wrong_result), MatchesRegex("O\\[[0-9]+\\] is .*"));
  EXPECT_THAT(message("fake_once", ErrorKind::wrong_result), MatchesRegex("O\\[[0-9]+\\] is .*"));
  EXPECT_THAT(message("fake_silent", ErrorKind::wrong_result), MatchesRegex("O\\[0\\] is nan where .*"));
  EXPECT_EQ(message("fake_broken", ErrorKind::io), "the fake peer is broken");
  EXPECT_EQ(message("fake_environment", ErrorKind::unsupported), "its threads would spin");
}

TEST(MeasurePeers, GivesTheReasonWhereNobodyHasTheCase) {
  if (!detect_target()) GTEST_SKIP();
  for (const auto& [form, measurement] : measure_fake(R"({"name": "v", "op": "gemv", "m": 3, "k": 5})")) {
    ASSERT_FALSE(measurement.ok()) << form;
    EXPECT_EQ(measurement.failure->kind, ErrorKind::unsupported);
    EXPECT_EQ(measurement.failure->message, "it doubles vectors and does nothing else");
  }
}

TEST(MeasurePeers, LeavesOutWhatHasOtherTypes) {
  const auto measured = measure_fake(
      R"({"name": "s", "op": "shift_conv2d", "batch": 1, "height": 4, "width": 4, "channels": 2, "kernel": 3})");
  EXPECT_EQ(measured.size(), 8u);
  for (const auto& [form, measurement] : measured) {
    ASSERT_FALSE(measurement.ok()) << form;
    EXPECT_EQ(measurement.failure->message,
              "peers take cases with one output whose tensors are all of type f32");
  }
}

}  // namespace
}  // namespace lathe::testing
