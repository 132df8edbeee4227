// A whole tuning run, as `lathe tune` and a program that embeds Lathe make one: what is checked before hours
// of measuring, the search within its budget, and the artifacts at the end.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "artifact/compile_model.h"
#include "base/deadline.h"
#include "base/result.h"
#include "evaluate/local_evaluator.h"
#include "measure/measurer.h"
#include "records/record_store.h"
#include "session/commands/case_report.h"
#include "session/commands/precision_error.h"
#include "session/commands/write_model.h"
#include "session/program_source.h"
#include "session/teller.h"
#include "tune/tune.h"

namespace lathe {

// Per cent of what the peaks allow: measurements vary by as much as is left.
constexpr double kEnough = 97;

struct TuneRequest {
  ProgramSource source;
  // What the source names, where the caller has it already; then the source's files are not read.
  std::vector<Workload> workloads = {};
  std::shared_ptr<const Network> network = nullptr;

  // Of each task, those in the records included; none: 64, any number with `seconds`.
  std::optional<int64_t> trials = {};
  std::optional<double> seconds = {};       // for all of it, artifacts included, from start() on
  std::optional<double> case_seconds = {};  // for the trials of each operator
  std::optional<double> enough = {};        // per cent; none: kEnough, 0: never
  TuneOptions search = {};
  std::string scheduler = "gradient-patient";  // how a network's tasks share the trials
  // Of operators' activations: "free" or "fixed"; empty: free, with `out` or `both_layouts` both, half of the
  // trials each. Whoever calls an artifact has row-major tensors, and what a free layout gains may be less
  // than its conversions take.
  std::string layout = "";
  bool both_layouts = false;
  std::string records = "./lathe.db";
  std::string json = "";  // a report that the caller will write there
  std::string out = "";   // where artifacts are written; empty: none is
  std::string name = "";  // of the one model; empty: its own
  std::optional<Checked> check = {};
  std::optional<double> weights_limit = {};
  std::string worker = "";  // the program in which candidates are measured
};

// What is told of a run while it goes on; every function may be empty.
struct TuneListener {
  std::function<void(const TuneState&)> state = {};
  // What lasts while the artifacts are made: done, of how many.
  std::function<void(size_t done, size_t count, const WorkState&)> work = {};
  std::function<void(const WrittenModel&)> written = {};
  Teller rejected = {};             // why a program was not used, or one of several artifacts not written
  Teller note = {};                 // what is worth knowing and nothing's fault
  std::function<bool()> stop = {};  // as TuneBudget::stop
};

class TuneSession {
 public:
  // Checks all that can be checked before anything is measured, reads what is to be tuned, opens the records
  // and starts the worker. An Error says which option, file or node is at fault.
  static Result<TuneSession> start(TuneRequest request, TuneListener listener);

  // Searches; what is measured is in the records within a second. Where the listener's `stop` ends it, the
  // cases that were not come to are missing.
  Result<std::vector<CaseReport>> tune();
  // Writes the artifacts of what tune() gave: of the operators that a program was found for, then of those
  // that nothing was tried for, as without records; one that fails keeps none of the others from being
  // written. Where they are short of time each is left as much of it as the others.
  Status write(const std::vector<CaseReport>& rows);

  const Target& target() const { return target_; }
  const Deadline& deadline() const { return budget_.deadline; }
  const RecordStore& records() const { return records_; }
  // How the programs that tune() found are compiled, so much work being left afterwards: with the records,
  // and without comparing again what the run has compared.
  CompileModelOptions compile_options(double later_seconds, const WorkObserver& work);

 private:
  TuneSession(TuneRequest request, TuneListener listener, Target target, RecordStore records,
              Measurer measurer);
  Status read_network();
  TuneObserver observer(const std::vector<std::string>& layouts) const;
  LocalEvaluator evaluator();
  CaseReport row_of(const CaseResult& result);
  Result<std::vector<CaseReport>> tune_workloads();
  Result<std::vector<CaseReport>> tune_network();
  Status write_operators(const std::vector<CaseReport>& rows);
  Status write_network();
  Status write_one(Result<Model> model, const std::string& folder, const Deadline& deadline);

  TuneRequest request_;
  TuneListener listener_;
  Target target_;
  RecordStore records_;
  Measurer measurer_;
  TuneBudget budget_;
  std::optional<PrecisionReference> precision_reference_ = {};
  std::set<int64_t> confirmed_ = {};  // records whose programs this run has compared in full
  std::set<int64_t> sampled_ = {};    // those of which it has compared a sample
};

// What two parts of a command ended with: the error of the second, or else of the first. Where both failed
// the first's is told; the one that is given is the command's own.
Status joined(const Status& first, const Status& second, const Teller& rejected);

}  // namespace lathe
