// The best recorded programs of operators measured again, beside other libraries perhaps, as `lathe bench`
// does.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "peers/peer.h"
#include "session/commands/case_report.h"
#include "session/program_source.h"
#include "session/teller.h"

namespace lathe {

struct BenchRequest {
  ProgramSource source;  // of a workload
  Target target;         // the source's, which runs here (target_here)
  std::string records = "./lathe.db";
  int rounds = 3;                 // how often each is measured
  std::string peers_folder = "";  // of the plug-ins of peers to measure in turns with them; empty: none
  std::string worker = "";        // the program in which candidates are measured
};

// What is told meanwhile; every function may be empty.
struct BenchListener {
  std::function<void(size_t turn, size_t count, const std::string& name)> turn = {};
  std::function<void(std::span<const Peer>)> peers = {};  // once they are loaded
  Teller rejected = {};  // which records are better but do not apply any more
  Teller note = {};
};

struct BenchOutcome {
  std::vector<CaseReport> rows;
  // An Error that names the cases of which nothing was measured or something was wrong.
  Status all_measured;
};

// All cases in turns. An Error means that nothing could be measured.
Result<BenchOutcome> bench(const BenchRequest& request, const BenchListener& listener);

}  // namespace lathe
