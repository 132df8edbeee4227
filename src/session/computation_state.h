// What a Computation (lathe/computation.h) holds.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "artifact/compile_model.h"
#include "lathe/computation.h"
#include "session/program_source.h"

namespace lathe {

struct Computation::State {
  ProgramSource source;  // without a workload: that is below
  Target target;
  std::optional<Workload> workload = {};             // of an operator
  std::shared_ptr<const Network> network = nullptr;  // of a network
  std::string name;
};

// The names and types of what a graph takes and gives.
TensorInfo tensor_info(std::string name, DType dtype, std::vector<int64_t> shape, bool is_constant);
// The shape of that input or output at the smallest sizes, given that at the largest.
std::vector<int64_t> least_shape(const FreeSizes& free, bool is_output, size_t tensor,
                                 std::vector<int64_t> shape);

}  // namespace lathe
