// What peers take for a case of a workload file, beside what Lathe's programs take: the same inputs, the same
// check of what they compute, the same way of taking samples (measure/timing.h).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "measure/measurement.h"
#include "ops/workloads.h"
#include "peers/peer.h"
#include "target/target.h"

namespace lathe {

struct PeerMeasurement {
  std::string form;
  // Its failure: the form does not have the case (unsupported), computed something else (wrong_result), or
  // could not run (io).
  Measurement measurement;
};

// Every form of every peer in turn, in this process, on these cpus with as many threads. What the last of the
// timed runs left behind is compared with the Dag's own evaluation, by the tolerance of the form's algorithm.
// An Error means that the case has no inputs or no reference.
Result<std::vector<PeerMeasurement>> measure_peers(std::span<const Peer> peers, const Workload& workload,
                                                   const Target& target, std::span<const int> cpus);

}  // namespace lathe
