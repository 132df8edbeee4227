// The command `experiment`: an experiment's searches on its tables or cases, kept as they are made, and what
// they come to.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "experiment/summary.h"
#include "session/commands/search_parts.h"
#include "session/teller.h"

namespace lathe {

struct ExperimentRequest {
  std::string file = "";          // of the experiment
  std::string tables = "";        // the folder of its tables; empty: the experiment's own
  std::string out = "";           // the folder of its searches, figure and numbers; empty: none are written
  std::optional<int> seeds = {};  // of each run at most
  std::string worker = "";        // the program in which candidates of cases are measured
  SearchParts parts = {};         // what runs may name
};

struct ExperimentListener {
  // Before each search: done, of how many, and what comes.
  std::function<void(size_t done, size_t count, const std::string& what)> progress = {};
  std::function<bool()> stop = {};
};

struct RunExperiment {
  Experiment experiment;
  std::vector<TableCurves> tables;
  std::vector<BarOutcome> bars;
  bool is_whole = true;  // else `stop` ended it, and nothing is known of its bars
};

// Searches on tables are the same on every machine; those of cases are of this one, and what they measure is
// kept in NAME.db, so that a program has one time in all of them. Writes NAME.searches, to which the next run
// adds what is missing, and at the end NAME.svg and NAME.json. Searches with a caller's own parts are made
// each time: the code behind their names may be another one. An Error names the file that is at fault.
Result<RunExperiment> run_experiment(const ExperimentRequest& request, const ExperimentListener& listener);

}  // namespace lathe
