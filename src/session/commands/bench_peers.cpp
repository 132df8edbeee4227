#include "session/commands/bench_peers.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "measure/pinned_thread.h"
#include "peers/openblas_core.h"

namespace lathe {
namespace {

// The worker's threads look for work so long before they sleep, and peers are to have the cpus for
// themselves.
constexpr std::chrono::milliseconds kWorkerFallsAsleep{5};

}  // namespace

Result<std::vector<std::string>> find_plug_ins(const std::string& folder) {
  std::vector<std::string> paths = find_peers(folder);
  if (!paths.empty()) return paths;
  return fail(
      ErrorKind::not_found,
      fmt::format("there are no plug-ins in {}: install the packages libdnnl-dev and libopenblas-dev, "
                  "then build with cmake -DLATHE_BUILD_PEERS=ON",
                  folder),
      "--peers");
}

std::vector<PeerVariable> peer_variables(const Target& target) {
  std::vector<PeerVariable> variables;
  variables.push_back({{"OMP_NUM_THREADS"}, std::to_string(cores_of(target)), true});
  // Threads of a peer that look for work between its calls would take the cpus from the worker's.
  variables.push_back({{"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"}, "passive", false});
  variables.push_back({{"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"}, "0", false});
  if (const char* core = openblas_core(target.name))
    variables.push_back({{"OPENBLAS_CORETYPE"}, core, false});
  return variables;
}

Result<std::vector<Peer>> start_peers(const std::string& folder, std::span<const int> cpus) {
  LATHE_TRY(const std::vector<std::string> paths, find_plug_ins(folder));
  const PinnedThread pinned(cpus);
  return load_peers(paths);
}

std::vector<PeerFigure> empty_figures(std::span<const Peer> peers) {
  std::vector<PeerFigure> figures;
  for (const Peer& peer : peers) {
    for (const PeerForm& form : peer.forms()) figures.push_back({form.name});
  }
  return figures;
}

void measure_peers_again(PeersOfCase& peers, double seconds, std::vector<PeerFigure>& figures) {
  if (std::ranges::all_of(figures, [](const PeerFigure& figure) { return figure.failure.has_value(); }))
    return;
  std::this_thread::sleep_for(kWorkerFallsAsleep);
  const std::vector<PeerMeasurement> measured = peers.measure();
  for (size_t i = 0; i < measured.size(); ++i) {
    const Measurement& now = measured[i].measurement;
    PeerFigure& figure = figures[i];
    if (figure.failure) continue;
    if (!now.ok()) {
      figure = {.form = figure.form, .failure = now.failure};
      continue;
    }
    if (figure.seconds == 0 || now.seconds < figure.seconds) figure.seconds = now.seconds;
    if (seconds > 0) figure.ratios.push_back(now.seconds / seconds);
  }
}

}  // namespace lathe
