// Plug-ins for a command, and how a form's figure comes to be over the turns.
#include "session/commands/bench_peers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/temporary_folder.h"
#include "ops/workloads.h"
#include "peers/fake_peers.h"
#include "target/all.h"
#include "target/detect.h"

namespace lathe {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::EndsWith;

// A folder of plug-ins.
class PeersOfBench : public ::testing::Test {
 protected:
  std::string folder() const { return folder_.path().string(); }
  void add(const std::string& plug_in, const std::string& name) const {
    fs::copy_file(testing::fake_peer(plug_in), folder_.path() / ("lathe_peer_" + name + ".so"));
  }
  std::vector<Peer> started() const {
    Result<std::vector<Peer>> peers = start_peers(folder(), cpus_);
    EXPECT_TRUE(peers.has_value()) << peers.error().to_string();
    return peers ? std::move(*peers) : std::vector<Peer>();
  }

  TemporaryFolder folder_;
  const std::vector<int> cpus_ = {allowed_cpus().front()};
};

TEST_F(PeersOfBench, AFolderWithoutPlugInsSaysHowToGetThem) {
  const std::string how =
      ": install the packages libdnnl-dev and libopenblas-dev, then build with cmake "
      "-DLATHE_BUILD_PEERS=ON";
  const auto none = find_plug_ins(folder());
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().kind, ErrorKind::not_found);
  EXPECT_EQ(none.error().to_string(), "--peers: there are no plug-ins in " + folder() + how);
  EXPECT_EQ(start_peers(folder() + "/none", cpus_).error().to_string(),
            "--peers: there are no plug-ins in " + folder() + "/none" + how);
  add("fake", "b");
  add("fake", "a");
  EXPECT_THAT(find_plug_ins(folder()).value(),
              ElementsAre(EndsWith("/lathe_peer_a.so"), EndsWith("/lathe_peer_b.so")));
}

TEST_F(PeersOfBench, APlugInThatCannotBeUsedEndsIt) {
  add("fake", "a");
  add("other_version", "b");
  EXPECT_EQ(start_peers(folder(), cpus_).error().to_string(),
            folder() +
                "/lathe_peer_b.so: the plug-in is built for version 7 of the face of peers, and this "
                "Lathe has version 1");
}

TEST_F(PeersOfBench, EachFormHasAPlaceForItsFigure) {
  EXPECT_TRUE(empty_figures({}).empty());
  add("fake", "a");
  const std::vector<PeerFigure> figures = empty_figures(started());
  ASSERT_EQ(figures.size(), 8U);
  EXPECT_EQ(figures.front().form, "fake");
  EXPECT_EQ(figures.back().form, "fake_environment");
  for (const PeerFigure& figure : figures) {
    EXPECT_EQ(figure.seconds, 0);
    EXPECT_TRUE(figure.ratios.empty());
    EXPECT_FALSE(figure.failure.has_value());
  }
}

TEST_F(PeersOfBench, AFormKeepsItsBestTimeAndEveryRatio) {
  if (!detect_target()) GTEST_SKIP();
  add("fake", "a");
  const std::vector<Peer> peers = started();
  const Workload twice =
      parse_workloads(R"([{"name": "twice", "op": "expression", "text": "O[i:50] = A[i] * 2"}])", "test")
          ->front();
  Result<PeersOfCase> opened = PeersOfCase::open(peers, twice, detect_target().value(), cpus_);
  ASSERT_TRUE(opened.has_value()) << opened.error().to_string();
  std::vector<PeerFigure> figures = empty_figures(peers);
  figures[0].seconds = 1e-15;  // nothing is as fast
  figures[3].seconds = 1e9;    // and everything is faster
  measure_peers_again(*opened, 2.0, figures);
  EXPECT_EQ(figures[0].seconds, 1e-15);
  EXPECT_LT(figures[3].seconds, 1);
  ASSERT_EQ(figures[3].ratios.size(), 1U);
  EXPECT_DOUBLE_EQ(figures[3].ratios[0], figures[3].seconds / 2);
  // Nothing of ours to compare with in this turn.
  measure_peers_again(*opened, 0, figures);
  EXPECT_EQ(figures[3].ratios.size(), 1U);
  ASSERT_TRUE(figures[6].failure.has_value());
  EXPECT_EQ(figures[6].form, "fake_broken");
  EXPECT_EQ(figures[6].failure->message, "the fake peer is broken");
}

TEST_F(PeersOfBench, AFormThatFailedOnceIsLeftOutForGood) {
  if (!detect_target()) GTEST_SKIP();
  add("fake", "a");
  const std::vector<Peer> peers = started();
  const Workload twice =
      parse_workloads(R"([{"name": "twice", "op": "expression", "text": "O[i:50] = A[i] * 2"}])", "test")
          ->front();
  Result<PeersOfCase> opened = PeersOfCase::open(peers, twice, detect_target().value(), cpus_);
  ASSERT_TRUE(opened.has_value());
  std::vector<PeerFigure> figures = empty_figures(peers);
  figures[0].failure = MeasureFailure{ErrorKind::io, "it failed before"};
  figures[1].seconds = 1e-3;
  figures[1].ratios = {1, 2};
  measure_peers_again(*opened, 1.0, figures);
  EXPECT_EQ(figures[0].failure->message, "it failed before");
  EXPECT_EQ(figures[0].seconds, 0);
  EXPECT_TRUE(figures[0].ratios.empty());
  // What a form that is wrong now had before does not count.
  EXPECT_EQ(figures[1].form, "fake_wrong");
  EXPECT_EQ(figures[1].seconds, 0);
  EXPECT_TRUE(figures[1].ratios.empty());
  EXPECT_EQ(figures[1].failure->kind, ErrorKind::wrong_result);
}

const PeerVariable* variable_of(const std::vector<PeerVariable>& variables, const std::string& name) {
  for (const PeerVariable& variable : variables)
    if (variable.names.front() == name) return &variable;
  return nullptr;
}

TEST(PeerVariables, ThreadsAreAsManyAsTheTargetsCores) {
  const std::vector<PeerVariable> variables = peer_variables(with_cores(generic_target("x86-avx2"), 3));
  const PeerVariable* threads = variable_of(variables, "OMP_NUM_THREADS");
  ASSERT_NE(threads, nullptr);
  EXPECT_EQ(threads->value, "3");
  EXPECT_TRUE(threads->is_forced);
  const PeerVariable* core = variable_of(variables, "OPENBLAS_CORETYPE");
  ASSERT_NE(core, nullptr);
  EXPECT_EQ(core->value, "Haswell");
  EXPECT_FALSE(core->is_forced);
}

// Threads that look for work between calls take the cpus from others; either variable that the user has says
// what is wanted.
TEST(PeerVariables, WaitingThreadsSleepUnlessTheUserSaysOtherwise) {
  const std::vector<PeerVariable> variables = peer_variables(generic_target("x86-avx2"));
  const PeerVariable* policy = variable_of(variables, "OMP_WAIT_POLICY");
  ASSERT_NE(policy, nullptr);
  EXPECT_EQ(policy->value, "passive");
  EXPECT_THAT(policy->names, ElementsAre("OMP_WAIT_POLICY", "GOMP_SPINCOUNT"));
  const PeerVariable* spins = variable_of(variables, "GOMP_SPINCOUNT");
  ASSERT_NE(spins, nullptr);
  EXPECT_EQ(spins->value, "0");
  EXPECT_THAT(spins->names, ElementsAre("GOMP_SPINCOUNT", "OMP_WAIT_POLICY"));
  EXPECT_FALSE(policy->is_forced);
  EXPECT_FALSE(spins->is_forced);
}

// OpenBLAS is left to choose where it knows best.
TEST(PeerVariables, OnlyProcessorsHaveACoreType) {
  for (const TargetRow& row : all_targets()) {
    const Target target = row.generic();
    EXPECT_EQ(variable_of(peer_variables(target), "OPENBLAS_CORETYPE") != nullptr,
              std::holds_alternative<CpuTarget>(target.kind))
        << row.name;
  }
}

}  // namespace
}  // namespace lathe
