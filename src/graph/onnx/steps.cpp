#include "graph/onnx/steps.h"

#include <algorithm>
#include <numeric>

namespace lathe {

std::vector<ImportedStep> steps_of(ImportedOutput output, size_t operands) {
  if (auto* steps = std::get_if<std::vector<ImportedStep>>(&output)) return std::move(*steps);
  if (auto* counted = std::get_if<CountedOutput>(&output)) return std::move(counted->steps);
  if (auto* constant = std::get_if<OnnxConstant>(&output)) return {{std::move(*constant)}};
  std::vector<size_t> all(operands);
  std::iota(all.begin(), all.end(), size_t{0});
  return {{std::get<GraphOp>(std::move(output)), std::move(all)}};
}

size_t StepList::joined(std::vector<size_t> parts, size_t axis) {
  // So many at once: an expression of thousands of parts would take long to compile.
  constexpr size_t kJoinedAtOnce = 16;
  while (parts.size() > 1) {
    std::vector<size_t> longer;
    for (size_t i = 0; i < parts.size(); i += kJoinedAtOnce) {
      const auto begin = parts.begin() + static_cast<std::ptrdiff_t>(i);
      const size_t count = std::min(kJoinedAtOnce, parts.size() - i);
      const std::vector<size_t> some(begin, begin + static_cast<std::ptrdiff_t>(count));
      longer.push_back(count == 1 ? some.front() : add(ConcatOp{axis}, some));
    }
    parts = std::move(longer);
  }
  return parts.front();
}

}  // namespace lathe
