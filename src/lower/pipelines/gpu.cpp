#include <array>

#include "lower/compact_buffers.h"
#include "lower/decompose_reductions.h"
#include "lower/distribute_registers.h"
#include "lower/drop_padding.h"
#include "lower/expand_math.h"
#include "lower/flatten_buffers.h"
#include "lower/fold_arithmetic.h"
#include "lower/hoist_guards.h"
#include "lower/insert_barriers.h"
#include "lower/lower.h"
#include "lower/lower_blocks.h"
#include "lower/merge_threads.h"
#include "lower/passes.h"
#include "lower/simplify_loops.h"
#include "lower/unroll_loops.h"
#include "lower/vectorize_loops.h"

namespace lathe {
namespace {

template <Program (*pass)(const Program&)>
Result<Program> plain(const Program& program, const LowerOptions&) {
  return pass(program);
}
template <Result<Program> (*pass)(const Program&)>
Result<Program> checked(const Program& program, const LowerOptions&) {
  return pass(program);
}

Result<Program> padding(const Program& program, const LowerOptions&) { return drop_padding(program); }
Result<Program> unrolling(const Program& program, const LowerOptions& options) {
  return unroll_loops(program, options.max_statements);
}

// Tails stay conditions: threads that have nothing to do wait for those that have.
constexpr std::array kPasses = {
    Pass{"decompose_reductions", plain<decompose_reductions>},
    Pass{"drop_padding", padding},
    Pass{"lower_blocks", plain<lower_blocks>},
    Pass{"simplify_loops", plain<simplify_loops>},
    Pass{"compact_buffers", plain<compact_buffers>},
    Pass{"hoist_guards", plain<hoist_guards>},
    Pass{"merge_threads", checked<merge_threads>},
    Pass{"distribute_registers", checked<distribute_registers>},
    Pass{"insert_barriers", plain<insert_barriers>},
    Pass{"flatten_buffers", plain<flatten_buffers>},
    Pass{"vectorize_loops", plain<vectorize_loops>},
    Pass{"unroll_loops", unrolling},
    Pass{"fold_arithmetic", plain<fold_arithmetic>},
    Pass{"expand_math", plain<expand_math>},
};

}  // namespace

std::span<const Pass> gpu_passes() { return kPasses; }

}  // namespace lathe
