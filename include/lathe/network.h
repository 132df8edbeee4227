// A network from an ONNX file.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lathe/computation.h"
#include "lathe/target.h"

namespace lathe {

struct NetworkFile {
  std::string path;
  // Shapes of inputs by name: for dimensions that the file leaves open, and in place of those that it fixes.
  std::map<std::string, std::vector<int64_t>> inputs = {};
  bool exact_specials = false;  // as in Formula
};

// Reads, simplifies and cuts the network into tasks. An Error names the file and the node, initializer or
// input that is at fault.
Result<Computation> make_network(const NetworkFile& file, const TargetChoice& target = {});

}  // namespace lathe
