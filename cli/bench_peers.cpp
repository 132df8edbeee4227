#include "cli/bench_peers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <tuple>

#include "cli/console.h"
#include "cli/executable.h"
#include "session/commands/bench_peers.h"

namespace lathe::cli {
namespace {

// What the user's environment says of these things holds, but for what is forced.
std::map<std::string, std::string> missing_variables(const Target& target) {
  const auto is_known = [](const std::string& name) { return std::getenv(name.c_str()) != nullptr; };
  std::map<std::string, std::string> missing;
  for (const PeerVariable& variable : peer_variables(target)) {
    const std::string& name = variable.names.front();
    const char* const known = std::getenv(name.c_str());
    const bool holds = variable.is_forced ? known != nullptr && known == variable.value
                                          : std::ranges::any_of(variable.names, is_known);
    if (!holds) missing[name] = variable.value;
  }
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

Status prepare_peers(const Target& target, const std::string& folder) {
  LATHE_TRY_STATUS(find_plug_ins(folder));
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

void report_peers(std::span<const Peer> peers) {
  std::string names;
  for (const Peer& peer : peers) names += (names.empty() ? "" : ", ") + peer.name();
  to_stderr("lathe: peers: {}\n", names);
}

void report_left_out(const std::vector<CaseReport>& rows) {
  // One sentence for a form and a reason, however many cases it holds for.
  std::map<std::tuple<bool, std::string, std::string>, std::vector<std::string>> left_out;
  for (const CaseReport& row : rows) {
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
