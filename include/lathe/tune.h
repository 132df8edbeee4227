// The search for the fastest program of a Computation, by measuring on this machine.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lathe/artifact.h"
#include "lathe/computation.h"
#include "lathe/search.h"

namespace lathe {

struct TuneChoice {
  // The program lathe-worker (the CMake target lathe::worker), in which candidates are measured.
  std::string worker;
  // Where every measurement is kept, and taken up from; made where it is missing. ":memory:": nowhere.
  std::string records = "./lathe.db";
  // Measured candidates of each task, those in the records included; none: 64, any number with `seconds`.
  std::optional<int64_t> trials = {};
  // For all of it, the compilation of the result included.
  std::optional<double> seconds = {};
  // A task's search ends once its best program has so many per cent of the speed that the machine's peaks
  // allow; none: 97, 0: never.
  std::optional<double> enough = {};
  uint64_t seed = 0;
  std::string strategy = "evolutionary";
  std::string cost_model = "gbt";
  int batch = 16;  // candidates between two fits of the model
  // Where set, in the place of the ones with these names, which are then what the records say.
  SearchMethodFactory search_method = {};
  CostPredictorFactory cost_predictor = {};
  // Asked in the calling thread between candidates, and while one takes long; true ends the search with what
  // it has measured, which is in the records.
  std::function<bool()> stop = {};
  // Told, in a sentence, how far it is; and why a program was not used, or what is worth knowing.
  std::function<void(const std::string&)> progress = {};
  std::function<void(const std::string&)> note = {};
};

// What came of one task: of the operator, or of one that the network consists of.
struct TunedTask {
  std::string name;
  int64_t trials = 0;  // that the records hold of it
  int64_t failed = 0;  // of these
  double seconds = 0;  // its best program takes; 0: none was found
  double spread = 0;   // relative
  double gflops = 0;   // 10^9 operations of the formula a second; 0 where there is no program
  int64_t uses = 1;    // how often the network runs it
};

struct TuneResult {
  std::vector<TunedTask> tasks;
  // The best programs, compared with a reference; none where `stop` ended the search.
  std::optional<Compiled> compiled;
};

// An Error where nothing can be measured or recorded, or no valid program is found.
Result<TuneResult> tune(const Computation& computation, const TuneChoice& choice);

}  // namespace lathe
