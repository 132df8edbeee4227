// A pass as the lists of pipelines/ hold it.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "loop/loop.h"

namespace lathe {

struct LowerOptions;

struct Pass {
  std::string_view name;
  Result<Program> (*run)(const Program& program, const LowerOptions& options);
};

// A pass that takes no options, whether or not it can fail.
template <Program (*pass)(const Program&)>
Result<Program> without_options(const Program& program, const LowerOptions&) {
  return pass(program);
}
template <Result<Program> (*pass)(const Program&)>
Result<Program> without_options(const Program& program, const LowerOptions&) {
  return pass(program);
}

// Which passes programs for a kind of target go through, in this order.
std::span<const Pass> cpu_passes();
std::span<const Pass> gpu_passes();

}  // namespace lathe
