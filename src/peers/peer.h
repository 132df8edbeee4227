// Peers: other libraries that compute the same cases, wrapped in plug-ins (include/lathe/peer_abi.h).
//
// A plug-in stays loaded until the process ends, for its library may have started threads; a Peer is a handle
// to it and may be copied. Its code runs in this process and is trusted like any library. Used by one thread.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "lathe/peer_abi.h"

namespace lathe {

struct PeerForm {
  std::string name;
  std::string algorithm;  // "winograd" where it rounds as that algorithm does; else empty
};

// A case that was opened in one form. It is closed with the object.
class PeerCase {
 public:
  // Computes it once.
  Status run();
  // What the last run computed, row-major.
  Status read(std::span<float> output);

 private:
  friend class Peer;
  PeerCase(const LathePeer* functions, LathePeerCase* opened)
      : functions_(functions), opened_(opened, functions->close) {}

  const LathePeer* functions_;
  std::unique_ptr<LathePeerCase, void (*)(LathePeerCase*)> opened_;
};

class Peer {
 public:
  // An Error of kind `load` names the file and why it is no plug-in of a peer.
  static Result<Peer> load(const std::string& path);

  // The library and its version.
  const std::string& name() const { return name_; }
  const std::vector<PeerForm>& forms() const { return forms_; }

  // Makes a case ready. `entry` is its object in the workload file, as JSON; the inputs, row-major in the
  // order of the formula, are read during the call alone. An Error of kind `unsupported` gives the reason
  // where the form does not have the case.
  Result<PeerCase> open(size_t form, const std::string& entry, int cores,
                        std::span<const std::span<const float>> inputs) const;

 private:
  const LathePeer* functions_ = nullptr;
  std::string name_;
  std::vector<PeerForm> forms_;
};

// The paths of a folder's plug-ins, `lathe_peer_*.so`, in the order of their names; none where there is no
// such folder.
std::vector<std::string> find_peers(const std::string& folder);
// Loads each; an Error, too, where two of them have a form of the same name.
Result<std::vector<Peer>> load_peers(const std::vector<std::string>& paths);

}  // namespace lathe
