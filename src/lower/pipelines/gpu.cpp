// The passes for GPUs, in their order (lower/passes.h).
#include <array>

#include "lower/arithmetic/expand_math.h"
#include "lower/arithmetic/fold_arithmetic.h"
#include "lower/blocks/decompose_reductions.h"
#include "lower/blocks/drop_padding.h"
#include "lower/blocks/hoist_guards.h"
#include "lower/blocks/lower_blocks.h"
#include "lower/buffers/compact_buffers.h"
#include "lower/buffers/flatten_buffers.h"
#include "lower/loops/simplify_loops.h"
#include "lower/loops/unroll_loops.h"
#include "lower/loops/vectorize_loops.h"
#include "lower/lower.h"
#include "lower/passes.h"
#include "lower/threads/distribute_registers.h"
#include "lower/threads/insert_barriers.h"
#include "lower/threads/merge_threads.h"

namespace lathe {
namespace {

// Tails stay conditions: threads that have nothing to do wait for those that have.
constexpr std::array kGpuPasses = {
    Pass{"decompose_reductions", without_options<decompose_reductions>},
    Pass{
        "drop_padding",
        [](const Program& program, const LowerOptions&) -> Result<Program> { return drop_padding(program); }},
    Pass{"lower_blocks", without_options<lower_blocks>},
    Pass{"simplify_loops", without_options<simplify_loops>},
    Pass{"compact_buffers", without_options<compact_buffers>},
    Pass{"hoist_guards", without_options<hoist_guards>},
    Pass{"merge_threads", without_options<merge_threads>},
    Pass{"distribute_registers", without_options<distribute_registers>},
    Pass{"insert_barriers", without_options<insert_barriers>},
    Pass{"flatten_buffers", without_options<flatten_buffers>},
    Pass{"vectorize_loops", without_options<vectorize_loops>},
    Pass{"unroll_loops",
         [](const Program& program, const LowerOptions& options) {
           return unroll_loops(program, options.max_statements);
         }},
    Pass{"fold_arithmetic", without_options<fold_arithmetic>},
    Pass{"expand_math", without_options<expand_math>},
};

}  // namespace

std::span<const Pass> gpu_passes() { return kGpuPasses; }

}  // namespace lathe
