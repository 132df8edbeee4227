// A network or operators to artifacts, as `lathe compile` makes them: with the best records, or without any.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "artifact/compile_model.h"
#include "base/result.h"
#include "session/commands/write_model.h"
#include "session/program_source.h"
#include "session/teller.h"

namespace lathe {

struct CompileRequest {
  ProgramSource source;
  std::string records = "";  // empty: trial 0 of each task
  std::string out = "";      // the folder of a network's artifact; of operators' one below it for each
  std::string name = "";     // of the one model; empty: its own
  bool as_sources = false;   // the kernels as C, in place of a library
  std::optional<Checked> check = {};
  std::optional<double> tolerance = {};      // as in ProblemOptions
  std::optional<double> weights_limit = {};  // as in CompileModelOptions
  std::string worker = "";                   // the program in which kernels are run to be compared
};

// What is told meanwhile; every function may be empty.
struct CompileListener {
  // So many operators or tasks are done, and which or what the last one was.
  std::function<void(size_t done, size_t count, const std::string& what)> done = {};
  // What lasts, after so many.
  std::function<void(size_t done, size_t count, const WorkState&)> work = {};
  std::function<void(const WrittenModel&)> written = {};
  Teller rejected = {};  // why a program was not used, or one of several artifacts not written
  Teller note = {};      // what is worth knowing and nothing's fault
};

// Compiles, compares each kernel with a reference where this machine runs it, and writes. One operator that
// fails keeps none of the others from being written; the Error is the last one's.
Status compile_artifacts(const CompileRequest& request, const CompileListener& listener);

}  // namespace lathe
