// What `lathe bench --peers` does beside `lathe bench`: the plug-ins of other libraries and their figures.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "cli/tune_report.h"
#include "peers/measure_peers.h"

namespace lathe::cli {

// Sets the environment that the peers are to find, and for that starts this program anew with the
// same arguments where it was started with another one: to be called before anything else is under way. An
// Error where there are no plug-ins.
Status prepare_peers(const Target& target);

// Loads the plug-ins; threads that they start stay on these cpus.
Result<std::vector<Peer>> start_peers(std::span<const int> cpus);

// A place for the figure of each form of each peer.
std::vector<PeerFigure> empty_figures(std::span<const Peer> peers);

// Measures a case once more and keeps the best of each form, and how many times as long it took as the
// program that took `seconds` just before (0: none did). A form that fails once is left out for good.
void measure_peers_again(PeersOfCase& peers, double seconds, std::vector<PeerFigure>& figures);

// Says on stderr which forms were left out of which cases, and why.
void report_left_out(const std::vector<ReportRow>& rows);

}  // namespace lathe::cli
