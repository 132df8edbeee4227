// A network's artifact with the programs that are fastest in it. Candidates are measured alone, again and
// again on the same memory; in a network others ran before, on other cores' caches too, and what is fastest
// alone may be slower than the untuned program there. So both run in their place, and what loses there gives
// way.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "artifact/compile_model.h"
#include "base/deadline.h"
#include "session/commands/write_model.h"

namespace lathe {

struct NetworkFolder {
  std::string path;
  std::string name = {};  // of the model; empty: its own
  Deadline deadline = {};
  std::function<bool()> stop = {};  // whoever wants the end races no more
  WorkObserver work = {};
};

// What a race and its artifacts take, where compiling and writing the first one took so long, and a run of
// it.
double race_in_place_seconds(double first_seconds, double run_seconds);

struct WrittenNetwork {
  WrittenModel model;
  std::optional<std::string> uncompared;  // uncompared_note of what was written
  std::optional<std::string> untuned;     // untuned_note of it
};

// Compiles and writes with the options' records, which must be there. Then, where this machine runs it, in no
// more than two seconds and at one size, and there is time by the deadline, memory and room on the disk, it
// runs in turns, for some seconds, with another that has the untuned program of each task that has one
// (challengers.h); where untuned programs were clearly faster, and are right, the artifact is written anew
// with those. What is told meanwhile goes to the options. An Error leaves the folder as write_artifact does.
Result<WrittenNetwork> write_network(const Network& network, const CompileModelOptions& options,
                                     const NetworkFolder& folder);

}  // namespace lathe
