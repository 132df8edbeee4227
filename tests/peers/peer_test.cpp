// Plug-ins of peers: which are refused and why, and what a case comes to.
#include "peers/peer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/temporary_folder.h"
#include "peers/fake_peers.h"

namespace lathe::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;

std::string sentence_of_load(const std::string& path) {
  const Result<Peer> peer = Peer::load(path);
  EXPECT_FALSE(peer.has_value());
  if (peer) return "";
  EXPECT_EQ(peer.error().kind, ErrorKind::load);
  EXPECT_EQ(peer.error().where, path);
  return peer.error().message;
}

TEST(Peer, WhatIsNoPlugInIsNamed) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "lathe_peer_text.so").string();
  EXPECT_EQ(sentence_of_load(path),
            "the plug-in cannot be loaded: cannot open shared object file: No such file or directory");
  std::ofstream(path) << std::string(4096, 'x');
  EXPECT_EQ(sentence_of_load(path), "the plug-in cannot be loaded: invalid ELF header");
  EXPECT_EQ(sentence_of_load(fake_peer("without_entry")),
            "this is no plug-in of a peer, it exports no function lathe_peer");
  EXPECT_EQ(sentence_of_load(fake_peer("other_version")),
            "the plug-in is built for version 7 of the face of peers, and this Lathe has version 1");
}

TEST(Peer, SaysItsNameAndForms) {
  const Result<Peer> peer = Peer::load(fake_peer("fake"));
  ASSERT_TRUE(peer.has_value()) << peer.error().to_string();
  EXPECT_EQ(peer->name(), "fake 1.0");
  ASSERT_EQ(peer->forms().size(), 8u);
  EXPECT_EQ(peer->forms()[0].name, "fake");
  EXPECT_EQ(peer->forms()[0].algorithm, "");
  EXPECT_EQ(peer->forms()[3].name, "fake_winograd");
  EXPECT_EQ(peer->forms()[3].algorithm, "winograd");
}

TEST(Peer, ComputesACase) {
  const Result<Peer> peer = Peer::load(fake_peer("fake"));
  ASSERT_TRUE(peer.has_value());
  std::vector<float> input = {1, 2, 3};
  const std::vector<std::span<const float>> inputs = {input};
  Result<PeerCase> opened = peer->open(0, R"({"op":"expression"})", 1, inputs);
  ASSERT_TRUE(opened.has_value()) << opened.error().to_string();
  input.assign(3, 0);  // the plug-in has taken what it needs
  PeerCase moved = std::move(*opened);
  ASSERT_TRUE(moved.run().has_value());
  std::vector<float> output(3);
  ASSERT_TRUE(moved.read(output).has_value());
  EXPECT_THAT(output, ElementsAre(2, 4, 6));
  std::vector<float> longer(4);
  const Status status = moved.read(longer);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().kind, ErrorKind::io);
  EXPECT_EQ(status.error().message, "the output has another size");
}

TEST(Peer, GivesTheReasonWhereItDoesNotHaveACase) {
  const Result<Peer> peer = Peer::load(fake_peer("fake"));
  ASSERT_TRUE(peer.has_value());
  const Result<PeerCase> opened = peer->open(0, R"({"op":"gemv"})", 1, {});
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().kind, ErrorKind::unsupported);
  EXPECT_EQ(opened.error().message, "it doubles vectors and does nothing else");
}

TEST(FindPeers, ListsThePlugInsOfAFolderByName) {
  const TemporaryFolder folder;
  for (const char* name : {"lathe_peer_b.so", "lathe_peer_a.so", "lathe_peer_c.txt", "libother.so"}) {
    std::ofstream(folder.path() / name) << "x";
  }
  EXPECT_THAT(find_peers(folder.path().string()),
              ElementsAre(EndsWith("/lathe_peer_a.so"), EndsWith("/lathe_peer_b.so")));
  EXPECT_THAT(find_peers((folder.path() / "none").string()), ElementsAre());
}

TEST(LoadPeers, RefusesASecondFormOfOneName) {
  const TemporaryFolder folder;
  const std::string copy = (folder.path() / "lathe_peer_copy.so").string();
  std::filesystem::copy_file(fake_peer("fake"), copy);
  EXPECT_TRUE(load_peers({copy}).has_value());
  const Result<std::vector<Peer>> both = load_peers({fake_peer("fake"), copy});
  ASSERT_FALSE(both.has_value());
  EXPECT_EQ(both.error().to_string(), copy + ": the peers have a second form of the name 'fake'");
}

}  // namespace
}  // namespace lathe::testing
