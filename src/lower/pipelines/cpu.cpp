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
