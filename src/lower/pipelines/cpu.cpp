// The passes for processors, in their order (lower/passes.h).
#include <array>

#include "lower/arithmetic/expand_math.h"
#include "lower/arithmetic/fold_arithmetic.h"
#include "lower/blocks/decompose_reductions.h"
#include "lower/blocks/drop_padding.h"
#include "lower/blocks/hoist_guards.h"
#include "lower/blocks/lower_blocks.h"
#include "lower/blocks/tensorize_loops.h"
#include "lower/buffers/compact_buffers.h"
#include "lower/buffers/flatten_buffers.h"
#include "lower/buffers/order_registers.h"
#include "lower/loops/peel_tails.h"
#include "lower/loops/shrink_loops.h"
#include "lower/loops/simplify_loops.h"
#include "lower/loops/unroll_loops.h"
#include "lower/loops/vectorize_loops.h"
#include "lower/lower.h"
#include "lower/passes.h"

namespace lathe {
namespace {

// Why each stands where it does: see its header.
constexpr std::array kCpuPasses = {
    Pass{"decompose_reductions", without_options<decompose_reductions>},
    Pass{
        "drop_padding",
        [](const Program& program, const LowerOptions&) -> Result<Program> { return drop_padding(program); }},
    Pass{"lower_blocks", without_options<lower_blocks>},
    Pass{"simplify_loops", without_options<simplify_loops>},
    Pass{"compact_buffers", without_options<compact_buffers>},
    Pass{"order_registers", without_options<order_registers>},
    Pass{"hoist_guards", without_options<hoist_guards>},
    Pass{"shrink_loops", without_options<shrink_loops>},
    Pass{"peel_tails", without_options<peel_tails>},
    Pass{"flatten_buffers", without_options<flatten_buffers>},
    Pass{"tensorize_loops", without_options<tensorize_loops>},
    Pass{"vectorize_loops", without_options<vectorize_loops>},
    Pass{"unroll_loops",
         [](const Program& program, const LowerOptions& options) {
           return unroll_loops(program, options.max_statements);
         }},
    Pass{"fold_arithmetic", without_options<fold_arithmetic>},
    Pass{"expand_math", without_options<expand_math>},
};

}  // namespace

std::span<const Pass> cpu_passes() { return kCpuPasses; }

}  // namespace lathe
