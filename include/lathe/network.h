// A network from an ONNX file.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lathe/computation.h"
#include "lathe/target.h"

namespace lathe {

// An axis of an input whose size stays free: whoever runs the network chooses it.
struct FreeSize {
  int64_t axis = 0;
  int64_t least = 1;
  int64_t most = 1;
  // Axes of one name have one size. Empty: the file's name for it, or, where the file fixes the axis, one for
  // all that it fixes to the same extent and that have the same bounds.
  std::string name = {};
};

struct NetworkFile {
  std::string path;
  // Shapes of inputs by name: for dimensions that the file leaves open, and in place of those that it fixes.
  std::map<std::string, std::vector<int64_t>> inputs = {};
  // By input, the axes that stay free, ascending; `inputs` has their largest extents.
  std::map<std::string, std::vector<FreeSize>> free = {};
  int64_t batch = 0;            // the leading extent of every input; 0: the file's
  bool exact_specials = false;  // as in Formula
};

// Reads, simplifies and cuts the network into tasks. An Error names the file and the node, initializer or
// input that is at fault.
Result<Computation> make_network(const NetworkFile& file, const TargetChoice& target = {});

}  // namespace lathe
