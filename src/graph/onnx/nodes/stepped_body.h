// The bodies of ONNX Loop, Scan and If as loops of the graph (graph/operators/loop_steps.h): a body stands
// there once, whatever the number of its runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/onnx/nodes/node_writer.h"

namespace lathe {

// A body of fewer runs is written out, run by run: what is constant in one of them is computed beforehand
// then, and its kernels may join those of the next run.
constexpr int64_t kMostRunsWrittenOut = 4;

struct SteppedScan {
  const onnx::GraphProto& body;
  NodeWriter::Names states;
  NodeWriter::Names sequences;
  Shape in_axes;  // of the sequences
  Shape in_backwards;
  Shape out_axes;  // of what is gathered
  Shape out_backwards;
  int64_t places = 1;
};

struct SteppedLoop {
  const onnx::GraphProto& body;
  NodeWriter::Names states;
  std::string count;      // the tensor; none where it is left out
  std::string condition;  // likewise
  std::optional<double> known_count = {};
  bool known_condition = false;  // that it is true
};

// Whether a branch may take so long that it should not be computed where it is not taken: it multiplies
// matrices, has a body or many nodes.
bool is_heavy_branch(const onnx::GraphProto& branch);

// An If whose condition, one bool, only the run of the model tells: each branch is a loop of one step or
// none.
Result<NodeWriter::Names> add_stepped_if(NodeWriter& writer, const onnx::GraphProto& on_true,
                                         const onnx::GraphProto& on_false);

// The names of the tensors that the node's outputs are, none for those that have no name. An Error where the
// body cannot stand there once: a state changes its type, or what is gathered has a place for each run of
// which only the run of the model tells how many there are.
Result<NodeWriter::Names> add_stepped_scan(NodeWriter& writer, const SteppedScan& scan);
// Of a Loop also none where nothing ends it: it has no count, or one that no run reaches, and its body's
// condition is always true.
Result<std::optional<NodeWriter::Names>> add_stepped_loop(NodeWriter& writer, const SteppedLoop& loop);

}  // namespace lathe
