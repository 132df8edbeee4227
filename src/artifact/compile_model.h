// From what a user has to a model: an operator or an ONNX network, compiled with the best records that there
// are, or as tuning would begin where there are none.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "artifact/model.h"
#include "artifact/plan_network.h"
#include "base/result.h"
#include "base/watch.h"
#include "graph/onnx/import.h"
#include "measure/candidate_runner.h"
#include "ops/workloads.h"
#include "records/record_store.h"
#include "tune/choose_trace.h"

namespace lathe {

struct CompileModelOptions {
  Target target;
  const RecordStore* records = nullptr;  // null: without records
  // Runs each program and compares all that it computes; in the place of one that is wrong, or of a record
  // that does not compile any more, the next best is taken, the naive one at last. What cannot be compared is
  // taken as it is (CompiledTask::uncompared). Of an operator's best programs with layouts of their own and
  // without, which are right then, that one is taken which is faster with its conversions, measured in this
  // process where the watch's deadline leaves the time. Null: nothing is run, and conversions are estimated.
  CandidateRunner* runner = nullptr;
  // Starts another one, for the thread that calls it: programs of a network are compared side by side then,
  // on as many cpus as the process has. Null: one after another.
  std::function<Result<std::unique_ptr<CandidateRunner>>()> another_runner = {};
  // How much is compared; none given: everything, but a sample where a kernel's takes longer than a minute.
  std::optional<Checked> check = {};
  // Comparisons that would not be done by its deadline are of a sample; later ones are left out. What else
  // is measured is estimated then.
  Watch watch = {};
  std::optional<double> tolerance = {};  // as in ProblemOptions
  bool exact_specials = false;           // as with_exact_specials; of operators
  std::set<int64_t> confirmed = {};      // records whose programs have been compared in full already
  std::set<int64_t> sampled = {};        // those of which a sample has been
  // A network's weights take at most so many times the bytes of its constants: tasks whose programs transform
  // theirs give them up, those first that lose the least time by it. 0: any number.
  double weights_limit = 2;
  // Told, in a sentence, what that limit cost where it cost anything.
  std::function<void(const std::string&)> note = [](const std::string&) {};
  // Told of each program that was wrong or does not compile any more, in a sentence.
  std::function<void(const std::string&)> rejected = [](const std::string&) {};
  // Told after each task: how many of how many are compiled.
  std::function<void(size_t done, size_t all)> progress = [](size_t, size_t) {};
};

// An Error (unsupported) where artifacts cannot hold the target's programs: they are run by processors.
Status check_has_artifacts(const Target& target);

// Arguments of fixed row-major layout for the caller, whatever the kernel uses inside.
Result<Model> compile_operator(const Workload& workload, const CompileModelOptions& options);

// The network in a file, for this target: at the sizes that `sizes` and the import's shapes choose, with
// weights, as plan_network has it, in a `precision`.
Result<Network> load_network(const std::string& path, const OnnxImportOptions& import, const Target& target,
                             bool exact_specials = false, const SizeChoices& sizes = {},
                             std::optional<DType> precision = {});
// A program for each task of the network, in order, those that plans share constants by included
// (share_packing.h): what network_model makes a model of.
Result<std::vector<CompiledTask>> compile_programs(const Network& network,
                                                   const CompileModelOptions& options);
Result<Model> compile_network(const Network& network, const CompileModelOptions& options);

}  // namespace lathe
