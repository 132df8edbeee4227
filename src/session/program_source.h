// What is compiled and for which machine, as its caller names it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "artifact/free_network.h"
#include "base/result.h"
#include "graph/onnx/import.h"
#include "session/commands/check_apart.h"
#include "target/target.h"

namespace lathe {

struct ProgramSource {
  std::string model;                          // an ONNX file; empty: a workload
  std::map<std::string, Shape> input_shapes;  // of the model's inputs, in place of its own
  SizeChoices sizes = {};                     // that stay free, or change with the batch
  std::string workload;                       // a JSON file of operators
  std::string filter;                         // as in select_workloads
  std::string target = "native";
  int cores = 0;                // 0: those of the target
  bool exact_specials = false;  // as with_exact_specials
  std::string precision = "";  // the type that a model's tensors are kept in, "f16" or "bf16"; empty: its own
};

// An Error unless exactly one of model and workload is given, and what belongs to one with it alone. Errors
// name the options of the command line.
Status check_source(const ProgramSource& source);
// The files that it names, and the records file.
std::vector<NamedFile> files_read(const ProgramSource& source, const std::string& records);
// The files beside the model that its constants came from.
std::vector<NamedFile> data_files(const Graph& graph);
// What target and cores say. An Error where this machine runs it and has fewer cpus in its affinity mask.
Result<Target> target_of(const ProgramSource& source);
// The same for programs that are to run here: an Error where they cannot.
Result<Target> target_here(const ProgramSource& source);

}  // namespace lathe
