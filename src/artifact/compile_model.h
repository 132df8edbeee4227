// From what a user has to a model: an operator or an ONNX network, compiled with the best records that there
// are, or as tuning would begin where there are none.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>

#include "artifact/model.h"
#include "base/result.h"
#include "graph/onnx_import.h"
#include "measure/candidate_runner.h"
#include "ops/workloads.h"
#include "records/record_store.h"
#include "tune/choose_trace.h"

namespace lathe {

struct CompileModelOptions {
  Target target;
  int cores = 1;
  const RecordStore* records = nullptr;  // null: without records
  // Runs each program and compares all that it computes; in the place of one that is wrong, or of a record
  // that does not compile any more, the next best is taken, the naive one at last. What cannot be compared is
  // taken as it is (CompiledTask::uncompared). Null: nothing is run.
  CandidateRunner* runner = nullptr;
  std::optional<double> tolerance = {};  // as in ProblemOptions
  std::set<int64_t> confirmed = {};      // records whose programs have been compared already
  // Of operators, which convert; a network's kernels give each other what they compute as it is.
  FreeLayouts free_layouts = FreeLayouts::if_faster;
  // Told of each program that was wrong or does not compile any more, in a sentence.
  std::function<void(const std::string&)> rejected = [](const std::string&) {};
  // Told after each task: how many of how many are compiled.
  std::function<void(size_t done, size_t all)> progress = [](size_t, size_t) {};
};

// Arguments of fixed row-major layout for the caller, whatever the kernel uses inside.
Result<Model> compile_operator(const Workload& workload, const CompileModelOptions& options);

// The network in a file, simplified, cut into tasks and given layouts: what is tuned and what is compiled.
struct Network {
  Graph graph;
  Partition partition;
  NetworkTasks tasks;
};
Result<Network> load_network(const std::string& path, const OnnxImportOptions& import, const Target& target,
                             int cores);
Result<Model> compile_network(const Network& network, const CompileModelOptions& options);

}  // namespace lathe
