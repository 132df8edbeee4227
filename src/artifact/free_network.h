// A network some of whose sizes stay free: what is asked of the file for that, and the graphs at the sizes
// that kernels are made for.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "graph/onnx/import.h"
#include "network/free_sizes.h"

namespace lathe {

// An axis of an input that a user leaves free.
struct FreeAxis {
  size_t axis = 0;
  // Axes of one name have one size. Empty: the file's name for the axis, or, where the file fixes it, one for
  // all that it fixes to the same extent and that have the same bounds.
  std::string name = {};
  int64_t least = 1;
  int64_t most = 1;
};

// What a user says of sizes, beside shapes.
struct SizeChoices {
  std::map<std::string, std::vector<FreeAxis>> free = {};  // by input, ascending by axis
  // The leading extent of every input, in place of the file's; of free axes not.
  std::optional<int64_t> batch = {};

  bool empty() const { return free.empty() && !batch; }
};

// A graph at one tuple of sizes.
struct SizedGraph {
  std::vector<int64_t> sizes;  // an entry a dimension
  Graph graph;                 // behind its own inputs one i64 for each dimension that goes by a count
};

struct SizedGraphs {
  FreeSizes free;
  std::vector<SizedGraph> graphs;  // the first at the largest sizes
};

// The graphs of the network in a file. `import` has the largest extents in the shapes of inputs with free
// axes. An Error names the input, or the node by which a size cannot be left free.
Result<SizedGraphs> sized_graphs(const std::string& path, const OnnxImportOptions& import,
                                 const SizeChoices& choices);

}  // namespace lathe
