// lathe bench --peers, with a peer that is right in some forms and wrong in others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/command_line.h"
#include "folders.h"
#include "peers/fake_peers.h"

namespace lathe {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

// The command line in a folder of its own, which has no plug-ins.
class BenchPeersTest : public CliTest {
 protected:
  void SetUp() override {
    for (const char* name : {"lathe", "lathe-worker"}) {
      std::filesystem::copy_file(std::filesystem::path(LATHE_BINARY_DIR) / "bin" / name,
                                 folder_.path() / name);
    }
    program_ = (folder_.path() / "lathe").string();
  }

  void add_plug_in(const std::string& path) const {
    std::filesystem::create_directories(folder_.path() / "peers");
    std::filesystem::copy_file(path, folder_.path() / "peers" / std::filesystem::path(path).filename());
  }

  nlohmann::json report() const { return nlohmann::json::parse(read_text(folder_.path() / "b.json")); }
};

TEST_F(BenchPeersTest, WithoutPlugInsSaysHowToGetThem) {
  EXPECT_EQ(sentence("bench --workload w.json --records r.db --peers"),
            "lathe: --peers: there are no plug-ins in " + (folder_.path() / "peers").string() +
                ": install the packages libdnnl-dev and libopenblas-dev, then build with cmake "
                "-DLATHE_BUILD_PEERS=ON");
}

TEST_F(BenchPeersTest, APlugInThatCannotBeUsedIsNamed) {
  write_matmul();
  ASSERT_EQ(lathe("tune --workload w.json --cores 1 --trials 1 --records r.db").status, 0);
  add_plug_in(testing::fake_peer("other_version"));
  EXPECT_EQ(sentence("bench --workload w.json --cores 1 --records r.db --peers"),
            "lathe: " + (folder_.path() / "peers/lathe_peer_other_version.so").string() +
                ": the plug-in is built for version 7 of the face of peers, and this Lathe has version 1");
}

TEST_F(BenchPeersTest, ComparesWithThePeersThatAreRight) {
  write_workload(R"({"name": "twice", "op": "expression", "text": "O[i:50] = A[i] * 2"},
                    {"name": "sum", "op": "expression", "text": "C[i:5] = A[i] + B[i]"})");
  ASSERT_EQ(lathe("tune --workload w.json --cores 1 --trials 2 --records r.db").status, 0);
  add_plug_in(testing::fake_peer("fake"));
  const std::string bench = "bench --workload w.json --cores 1 --rounds 2 --records r.db --json b.json";
  const Outcome measured = lathe(bench + " --peers");
  ASSERT_EQ(measured.status, 0) << measured.err;
  const nlohmann::json peers = report()[0]["peers"];
  EXPECT_EQ(peers.size(), 3u) << peers.dump();
  // The last one is there only if the command started itself anew with another environment.
  for (const char* form : {"fake", "fake_winograd", "fake_environment"})
    EXPECT_GT(peers.value(form, 0.0), 0) << form;
  EXPECT_TRUE(report()[1]["peers"].empty());
  EXPECT_THAT(measured.out, HasSubstr(" fake_winograd "));
  EXPECT_THAT(measured.out,
              MatchesRegex("name .* speed-up\n"
                           "twice .* [0-9.]+ us .* [0-9.]+\n"
                           "sum .* -\n"
                           "speed-up over the fastest peer, geometric mean of 1 case: [0-9.]+\n"));
  EXPECT_THAT(measured.err, HasSubstr("lathe: peers: fake 1.0\n"));
  EXPECT_THAT(measured.err, HasSubstr("lathe: warning: fake_wrong is left out of twice: O[49] is "));
  EXPECT_THAT(measured.err,
              HasSubstr("lathe: warning: fake_broken is left out of twice: the fake peer is broken\n"));
  EXPECT_THAT(measured.err,
              HasSubstr("lathe: fake is left out of sum: it doubles vectors and does nothing else\n"));

  const Outcome alone = lathe(bench);
  ASSERT_EQ(alone.status, 0) << alone.err;
  EXPECT_FALSE(report()[0].contains("peers"));
  EXPECT_THAT(alone.out, Not(HasSubstr("speed-up")));
}

TEST_F(BenchPeersTest, CasesWithoutARecordAreNamedAndTheOthersStand) {
  write_workload(R"({"name": "twice", "op": "expression", "text": "O[i:50] = A[i] * 2"})");
  ASSERT_EQ(lathe("tune --workload w.json --cores 1 --trials 1 --records r.db").status, 0);
  write_workload(R"({"name": "twice", "op": "expression", "text": "O[i:50] = A[i] * 2"},
                    {"name": "more", "op": "expression", "text": "O[i:60] = A[i] * 2"})");
  add_plug_in(testing::fake_peer("fake"));
  const Outcome measured = lathe("bench --workload w.json --cores 1 --rounds 1 --records r.db --peers");
  EXPECT_EQ(measured.status, 1);
  EXPECT_THAT(measured.err,
              MatchesRegex("(.|\n)*lathe: r.db: there is no program on x86-avx[0-9]+ and 1 core for "
                           "more\n"));
  EXPECT_THAT(measured.out, HasSubstr("geometric mean of 1 case: "));
}

}  // namespace
}  // namespace lathe
