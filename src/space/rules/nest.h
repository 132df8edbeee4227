// The loops of a block that reduces, by their names.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "space/rules/parallel.h"

namespace lathe {

// The nest that reads the operands: the whole reduction, or its partial results.
struct Nest {
  std::string block;
  OuterLoops spatial;
  std::vector<std::string> reduce;
  std::optional<size_t> epilogue;  // takes the results where they are made

  explicit Nest(const Compute& compute, std::optional<size_t> taker = std::nullopt)
      : block(compute.output->name), epilogue(taker) {
    for (const auto& [var, extent, kind] : compute.axes) {
      if (kind == AxisKind::spatial) {
        spatial.emplace_back(var.name(), extent);
      } else {
        reduce.push_back(var.name());
      }
    }
  }
};

}  // namespace lathe
