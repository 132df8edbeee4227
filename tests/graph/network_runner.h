// Runs a partitioned network task by task through the loop interpreter or machine code, all activations in
// one arena as planned.
#pragma once

#include <string>
#include <vector>

#include "graph/onnx/models.h"
#include "network/partition.h"

namespace lathe {

// The values of the graph's outputs. Throws if a task does not run.
std::vector<Values> run_partition(const Graph& graph, const Partition& partition,
                                  const std::vector<Values>& inputs);

// One output of a model by the reference. Expects the model to import, and its simplified network, run task
// by task, to give all outputs as the reference does; no values where it does not import.
Values run_network(const OnnxModel& model, const std::vector<Values>& inputs, size_t output = 0);

// The first output of a model's simplified network whose tasks are machine code, each of its naive program.
// Throws if one does not run.
std::vector<double> run_compiled(const OnnxModel& model, const std::vector<Values>& inputs);

// The sentence with which the model does not import, or "imported".
std::string import_error(const OnnxModel& model);

}  // namespace lathe
