// The plug-ins of other libraries beside which programs are measured, and their figures.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "peers/measure_peers.h"
#include "session/commands/case_report.h"

namespace lathe {

// The plug-ins in this folder; an Error where there are none.
Result<std::vector<std::string>> find_plug_ins(const std::string& folder);

// A variable of the environment that the libraries are to find when they are loaded.
struct PeerVariable {
  // Its name; where the environment has it, or one of the others, that holds unless the value is forced.
  std::vector<std::string> names;
  std::string value;
  bool is_forced = false;
};
std::vector<PeerVariable> peer_variables(const Target& target);

// Loads the plug-ins; threads that they start stay on these cpus.
Result<std::vector<Peer>> start_peers(const std::string& folder, std::span<const int> cpus);

// A place for the figure of each form of each peer.
std::vector<PeerFigure> empty_figures(std::span<const Peer> peers);

// Measures a case once more and keeps the best of each form, and how many times as long it took as the
// program that took `seconds` just before (0: none did). A form that fails once is left out for good.
void measure_peers_again(PeersOfCase& peers, double seconds, std::vector<PeerFigure>& figures);

}  // namespace lathe
