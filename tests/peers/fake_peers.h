// The plug-ins that tests/CMakeLists.txt builds of fake_peer.c.
#pragma once

#include <string>

#include "folders.h"

namespace lathe::testing {

// `name`: "fake", "other_version" or "without_entry".
inline std::string fake_peer(const std::string& name) {
  return LATHE_BINARY_DIR "/tests/peers/lathe_peer_" + name + ".so";
}

}  // namespace lathe::testing
