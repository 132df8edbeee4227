// Which dimensions of a file's inputs are free, by what a user says and what the file calls them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "artifact/free_network.h"
#include "graph/onnx/inputs.h"

namespace lathe {

struct NamedAxis {
  std::string input;
  size_t axis = 0;
};

struct AskedDimension {
  std::string name;
  int64_t least = 1;
  int64_t most = 1;
  std::vector<NamedAxis> axes;
  std::optional<int64_t> fixed;  // the extent that the file gives it, where it does
  bool is_named_by_user = false;
  std::vector<std::string> also_called = {};  // by other inputs (join_sizes.h)
};

struct AskedSizes {
  std::vector<AskedDimension> dimensions;
  // The shapes of inputs at the file's extents where it fixes them, else at the largest sizes.
  std::map<std::string, Shape> shapes;
};

// An Error names the input that a bound or an extent does not fit.
Result<AskedSizes> asked_sizes(const std::vector<DeclaredInput>& inputs,
                               const std::map<std::string, Shape>& shapes, const SizeChoices& choices);

}  // namespace lathe
