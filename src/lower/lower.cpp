#include "lower/lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "loop/verify.h"
#include "lower/compact_buffers.h"
#include "lower/decompose_reductions.h"
#include "lower/drop_padding.h"
#include "lower/expand_math.h"
#include "lower/flatten_buffers.h"
#include "lower/fold_arithmetic.h"
#include "lower/hoist_guards.h"
#include "lower/lower_blocks.h"
#include "lower/order_registers.h"
#include "lower/peel_tails.h"
#include "lower/shrink_loops.h"
#include "lower/simplify_loops.h"
#include "lower/tensorize_loops.h"
#include "lower/unroll_loops.h"
#include "lower/vectorize_loops.h"

namespace lathe {
namespace {

struct Pass {
  std::string_view name;
  Result<Program> (*run)(const Program& program, const LowerOptions& options);
};

// A pass that cannot fail and has no options.
template <Program (*pass)(const Program&)>
Result<Program> plain(const Program& program, const LowerOptions&) {
  return pass(program);
}

Result<Program> padding(const Program& program, const LowerOptions&) { return drop_padding(program); }
Result<Program> unrolling(const Program& program, const LowerOptions& options) {
  return unroll_loops(program, options.max_statements);
}

// Why each stands where it does: see its header.
constexpr std::array kPasses = {
    Pass{"decompose_reductions", plain<decompose_reductions>},
    Pass{"drop_padding", padding},
    Pass{"lower_blocks", plain<lower_blocks>},
    Pass{"simplify_loops", plain<simplify_loops>},
    Pass{"compact_buffers", plain<compact_buffers>},
    Pass{"order_registers", plain<order_registers>},
    Pass{"hoist_guards", plain<hoist_guards>},
    Pass{"shrink_loops", plain<shrink_loops>},
    Pass{"peel_tails", plain<peel_tails>},
    Pass{"flatten_buffers", plain<flatten_buffers>},
    Pass{"tensorize_loops", plain<tensorize_loops>},
    Pass{"vectorize_loops", plain<vectorize_loops>},
    Pass{"unroll_loops", unrolling},
    Pass{"fold_arithmetic", plain<fold_arithmetic>},
    Pass{"expand_math", plain<expand_math>},
};
constexpr std::string_view kPlanMemory = "plan_memory";

Status verified(std::string_view pass, const Program& program) {
  Status status = verify(program);
  if (!status) status.error().message = fmt::format("after {}: {}", pass, status.error().message);
  return status;
}

}  // namespace

std::vector<std::string_view> pass_names() {
  std::vector<std::string_view> names;
  for (const Pass& pass : kPasses) names.push_back(pass.name);
  names.push_back(kPlanMemory);
  return names;
}

Result<LoweredProgram> lower(const Program& program, const Target&, const LowerOptions& options) {
  const std::vector<std::string_view> names = pass_names();
  if (!options.stop_after.empty() && std::ranges::find(names, options.stop_after) == names.end()) {
    return fail(ErrorKind::invalid_argument, fmt::format("there is no pass '{}'; the passes are {}",
                                                         options.stop_after, fmt::join(names, ", ")));
  }
  LoweredProgram lowered{program, {}};
  for (const Pass& pass : kPasses) {
    const auto start = std::chrono::steady_clock::now();
    LATHE_TRY(lowered.program, pass.run(lowered.program, options));
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    if (options.verifies) LATHE_TRY_STATUS(verified(pass.name, lowered.program));
    if (options.after_pass) LATHE_TRY_STATUS(options.after_pass(pass.name, lowered.program, time.count()));
    if (options.stop_after == pass.name) return lowered;
  }
  lowered.memory = plan_memory(lowered.program);
  return lowered;
}

}  // namespace lathe
