#include "cli/bench_peers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>
#include <tuple>

#include "cli/console.h"
#include "cli/executable.h"
#include "measure/pinned_thread.h"
#include "peers/openblas_core.h"

namespace lathe::cli {
namespace {

// The worker's threads look for work so long before they sleep, and peers are to have the cpus for
// themselves.
constexpr std::chrono::milliseconds kWorkerFallsAsleep{5};

Result<std::vector<std::string>> plug_ins() {
  LATHE_TRY(const std::filesystem::path self, executable_path());
  const std::string folder = (self.parent_path() / "peers").string();
  std::vector<std::string> paths = find_peers(folder);
  if (!paths.empty()) return paths;
  return fail(
      ErrorKind::not_found,
      fmt::format("there are no plug-ins in {}: install the packages libdnnl-dev and libopenblas-dev, "
                  "then build with cmake -DLATHE_BUILD_PEERS=ON",
                  folder),
      "--peers");
}

bool has_variable(const char* name, const std::string& value) {
  const char* known = std::getenv(name);
  return known != nullptr && known == value;
}

// What the user's environment says of these things holds, but for the number of threads.
std::map<std::string, std::string> missing_variables(const Target& target) {
  std::map<std::string, std::string> missing;
  const std::string threads = std::to_string(cores_of(target));
  if (!has_variable("OMP_NUM_THREADS", threads)) missing["OMP_NUM_THREADS"] = threads;
  // Threads of a peer that look for work between its calls would take the cpus from the worker's.
  if (std::getenv("OMP_WAIT_POLICY") == nullptr && std::getenv("GOMP_SPINCOUNT") == nullptr) {
    missing["OMP_WAIT_POLICY"] = "passive";
    missing["GOMP_SPINCOUNT"] = "0";
  }
  const char* core = openblas_core(target.name);
  if (core != nullptr && std::getenv("OPENBLAS_CORETYPE") == nullptr) missing["OPENBLAS_CORETYPE"] = core;
  return missing;
}

// Does not return where it succeeds.
Status start_anew() {
  LATHE_TRY(const std::string program, executable_path());
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv(program.c_str(), arguments.data());
  return fail(ErrorKind::io, fmt::format("the program cannot be started anew: {}", std::strerror(errno)),
              program);
}

}  // namespace

Status prepare_peers(const Target& target) {
  LATHE_TRY_STATUS(plug_ins());
  const std::map<std::string, std::string> missing = missing_variables(target);
  if (missing.empty()) return {};
  for (const auto& [name, value] : missing) {
    if (setenv(name.c_str(), value.c_str(), 1) == 0) continue;
    return fail(ErrorKind::io, fmt::format("the environment cannot be changed: {}", std::strerror(errno)),
                name);
  }
  // OpenMP reads its variables when it is loaded, and libraries of this program's own have loaded it.
  return start_anew();
}

Result<std::vector<Peer>> start_peers(std::span<const int> cpus) {
  LATHE_TRY(const std::vector<std::string> paths, plug_ins());
  const PinnedThread pinned(cpus);
  LATHE_TRY(std::vector<Peer> peers, load_peers(paths));
  std::string names;
  for (const Peer& peer : peers) names += (names.empty() ? "" : ", ") + peer.name();
  to_stderr("lathe: peers: {}\n", names);
  return peers;
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

void report_left_out(const std::vector<ReportRow>& rows) {
  // One sentence for a form and a reason, however many cases it holds for.
  std::map<std::tuple<bool, std::string, std::string>, std::vector<std::string>> left_out;
  for (const ReportRow& row : rows) {
    for (const PeerFigure& figure : row.peers) {
      if (!figure.failure) continue;
      const bool is_fault = figure.failure->kind != ErrorKind::unsupported;
      left_out[{is_fault, figure.form, figure.failure->message}].push_back(row.result.name);
    }
  }
  for (const auto& [why, names] : left_out) {
    const auto& [is_fault, form, reason] = why;
    to_stderr("lathe: {}{} is left out of {}: {}\n", is_fault ? "warning: " : "", form,
              fmt::join(names, ", "), reason);
  }
}

}  // namespace lathe::cli
