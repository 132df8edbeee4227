// What `lathe bench --peers` does beside `lathe bench`: the environment of other libraries, and what is said
// of them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "session/commands/bench_session.h"

namespace lathe::cli {

// Sets the environment that the peers are to find, and for that starts this program anew with the
// same arguments where it was started with another one: to be called before anything else is under way. An
// Error where there are no plug-ins in the folder.
Status prepare_peers(const Target& target, const std::string& folder);

// Says on stderr which peers there are.
void report_peers(std::span<const Peer> peers);

// Says on stderr which forms were left out of which cases, and why.
void report_left_out(const std::vector<CaseReport>& rows);

}  // namespace lathe::cli
