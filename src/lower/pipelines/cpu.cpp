#include <array>

#include "lower/compact_buffers.h"
#include "lower/decompose_reductions.h"
#include "lower/drop_padding.h"
#include "lower/expand_math.h"
#include "lower/flatten_buffers.h"
#include "lower/fold_arithmetic.h"
#include "lower/hoist_guards.h"
#include "lower/lower.h"
#include "lower/lower_blocks.h"
#include "lower/order_registers.h"
#include "lower/passes.h"
#include "lower/peel_tails.h"
#include "lower/shrink_loops.h"
#include "lower/simplify_loops.h"
#include "lower/tensorize_loops.h"
#include "lower/unroll_loops.h"
#include "lower/vectorize_loops.h"

namespace lathe {
namespace {

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

}  // namespace

std::span<const Pass> cpu_passes() { return kPasses; }

}  // namespace lathe
