#include "graph/onnx/steps.h"

#include <numeric>

namespace lathe {

std::vector<ImportedStep> steps_of(ImportedOutput output, size_t operands) {
  if (auto* steps = std::get_if<std::vector<ImportedStep>>(&output)) return std::move(*steps);
  if (auto* constant = std::get_if<OnnxConstant>(&output)) return {{std::move(*constant)}};
  std::vector<size_t> all(operands);
  std::iota(all.begin(), all.end(), size_t{0});
  return {{std::get<GraphOp>(std::move(output)), std::move(all)}};
}

}  // namespace lathe
