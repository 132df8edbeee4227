// What peers take for a case of a workload file, beside what Lathe's programs take: the same inputs, the same
// check of what they compute, the same way of taking samples (measure/timing.h).
#pragma once

#include <memory>
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

// A case opened in every form of every peer, in this process, on these cpus with as many threads.
class PeersOfCase {
 public:
  // An Error means that the case has no inputs or no reference. `peers` and `cpus` must outlive it.
  static Result<PeersOfCase> open(std::span<const Peer> peers, const Workload& workload, const Target& target,
                                  std::span<const int> cpus);
  PeersOfCase(PeersOfCase&&) noexcept;
  PeersOfCase& operator=(PeersOfCase&&) noexcept;
  ~PeersOfCase();

  // Every form in turn. What the last of the timed runs left behind is compared with the Dag's own
  // evaluation, by the tolerance of the form's algorithm.
  std::vector<PeerMeasurement> measure();

 private:
  struct State;
  explicit PeersOfCase(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace lathe
