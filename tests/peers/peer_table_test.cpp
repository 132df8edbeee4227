// Plug-ins whose tables are not whole, built here from a few lines of C.
#include <gtest/gtest.h>

#include <fstream>

#include "base/shell.h"
#include "base/temporary_folder.h"
#include "peers/fake_peers.h"
#include "peers/peer.h"

namespace lathe::testing {
namespace {

// Functions that a table may name.
constexpr const char* kFunctions = R"(
#include "lathe/peer_abi.h"
static int open_case(int32_t f, const char* e, int32_t c, const LathePeerInput* i, int32_t n, LathePeerCase** o) {
  (void)f, (void)e, (void)c, (void)i, (void)n, (void)o;
  return LATHE_PEER_UNSUPPORTED;
}
static int run(LathePeerCase* o) { (void)o; return LATHE_PEER_FAILED; }
static int read_case(LathePeerCase* o, float* f, int64_t n) { (void)o, (void)f, (void)n; return LATHE_PEER_FAILED; }
static void close_case(LathePeerCase* o) { (void)o; }
static const char* no_reason(void) { return 0; }
)";

class PeerTable : public ::testing::Test {
 protected:
  // The path of a plug-in of these functions and this code.
  std::string built(const std::string& name, const std::string& code) const {
    const std::string source = (folder_.path() / (name + ".c")).string();
    const std::string path = (folder_.path() / ("lathe_peer_" + name + ".so")).string();
    std::ofstream(source) << kFunctions << code;
    EXPECT_EQ(run_in_shell("cc -shared -fPIC -I " LATHE_SOURCE_DIR "/include -o " + path + " " + source), 0);
    return path;
  }
  // One with this table.
  std::string built_table(const std::string& name, const std::string& table,
                          const std::string& forms = "{\"form\", \"\"}") const {
    return built(name, "static const LathePeerForm kForms[] = {" + forms +
                           "};\nstatic const LathePeer kPeer = {" + table +
                           "};\nconst LathePeer* lathe_peer(void) { return &kPeer; }\n");
  }
  static std::string refused_load(const std::string& path) {
    const Result<Peer> peer = Peer::load(path);
    return peer ? "" : peer.error().to_string();
  }

  TemporaryFolder folder_;
};

TEST_F(PeerTable, AWholeOneIsTakenAndReasonsMayBeMissing) {
  const std::string path = built_table("whole",
                                       "LATHE_PEER_ABI_VERSION, 1, \"whole 1\", kForms, open_case, run, "
                                       "read_case, close_case, no_reason");
  const Result<Peer> peer = Peer::load(path);
  ASSERT_TRUE(peer.has_value()) << peer.error().to_string();
  EXPECT_EQ(peer->name(), "whole 1");
  const Result<PeerCase> opened = peer->open(0, "{}", 1, {});
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().kind, ErrorKind::unsupported);
  EXPECT_EQ(opened.error().message, "the plug-in gives no reason");
}

TEST_F(PeerTable, WithoutOneItIsRefused) {
  const std::string path = built("none", "const LathePeer* lathe_peer(void) { return 0; }\n");
  EXPECT_EQ(refused_load(path), path + ": the plug-in has no table of functions");
}

TEST_F(PeerTable, OneThatLacksSomethingIsRefused) {
  const std::string start = "LATHE_PEER_ABI_VERSION, ";
  const std::string functions = ", open_case, run, read_case, close_case, no_reason";
  int number = 0;
  const auto expect_refused = [&](const std::string& table, const std::string& forms = "{\"form\", \"\"}") {
    const std::string path = built_table("lacks" + std::to_string(++number), table, forms);
    EXPECT_EQ(refused_load(path), path + ": the plug-in's table lacks a function, a name or the forms")
        << table;
  };
  expect_refused(start + "1, 0, kForms" + functions);
  expect_refused(start + "1, \"\", kForms" + functions);
  expect_refused(start + "0, \"peer\", kForms" + functions);
  expect_refused(start + "1, \"peer\", 0" + functions);
  expect_refused(start + "1, \"peer\", kForms, 0, run, read_case, close_case, no_reason");
  expect_refused(start + "1, \"peer\", kForms, open_case, run, read_case, close_case, 0");
  expect_refused(start + "1, \"peer\", kForms" + functions, "{\"\", \"\"}");
  expect_refused(start + "2, \"peer\", kForms" + functions, "{\"form\", \"\"}, {\"other\", 0}");
}

// Of another version nothing but its number is looked at.
TEST_F(PeerTable, TheVersionComesFirst) {
  const std::string path = built_table("newer", "LATHE_PEER_ABI_VERSION + 1, 0, 0, 0, 0, 0, 0, 0, 0");
  EXPECT_EQ(refused_load(path),
            path +
                ": the plug-in is built for version 2 of the face of peers, and this Lathe "
                "has version 1");
}

// Found when it is loaded, and not in the middle of a measurement.
TEST_F(PeerTable, ALibraryThatIsMissingIsNamed) {
  const std::string path = built(
      "missing", "void of_nobody(void);\nconst LathePeer* lathe_peer(void) { of_nobody(); return 0; }\n");
  EXPECT_EQ(refused_load(path), path + ": the plug-in cannot be loaded: undefined symbol: of_nobody");
}

// All that was loaded before it is let go: nothing of a list that is refused is used.
TEST_F(PeerTable, OneOfAListThatCannotBeUsedEndsIt) {
  const std::string wrong = built("wrong", "const LathePeer* lathe_peer(void) { return 0; }\n");
  const Result<std::vector<Peer>> peers = load_peers({fake_peer("fake"), wrong});
  ASSERT_FALSE(peers.has_value());
  EXPECT_EQ(peers.error().to_string(), wrong + ": the plug-in has no table of functions");
  EXPECT_TRUE(load_peers({})->empty());
}

}  // namespace
}  // namespace lathe::testing
