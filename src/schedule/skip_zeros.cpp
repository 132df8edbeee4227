// skip_zeros: iterations in which a factor is a zero that a condition put there are left out.
#include <fmt/format.h>

#include <algorithm>

#include "expr/nonzero.h"
#include "loop/region.h"
#include "schedule/primitive.h"

namespace lathe {
namespace {

// The block that gives every element of a tensor by itself.
std::optional<Definition> definition_of(const std::vector<const Block*>& blocks, const Tensor& tensor) {
  const Block* found = nullptr;
  for (const Block* block : blocks) {
    if (!(block->output == tensor)) continue;
    if (found != nullptr || block->reduction != Reduction::none) return std::nullopt;
    found = block;
  }
  if (found == nullptr) return std::nullopt;
  Definition definition{{}, found->value};
  for (const Affine& index : found->output_index) {
    const auto axis = index.as_var();
    if (!axis) return std::nullopt;
    definition.axes.push_back(*axis);
  }
  return definition;
}

// Whether a condition may stand around loops: all that it names run one iteration after another, or side by
// side in threads.
bool can_be_tested(const Affine& value, const Path& path) {
  if (depends_on_values(value)) return false;
  std::vector<Var> vars;
  collect_vars(value, vars);
  return std::ranges::all_of(vars, [&](const Var& var) {
    const auto loop = std::ranges::find_if(path, [&](const Stmt& stmt) {
      const For* candidate = as<For>(stmt);
      return candidate != nullptr && candidate->var == var;
    });
    if (loop == path.end()) return false;
    const LoopKind kind = as<For>(*loop)->kind;
    return kind == LoopKind::serial || kind == LoopKind::parallel;
  });
}

}  // namespace

Result<Program> apply(const Program& program, const SkipZerosStep& step) {
  LATHE_TRY(const Located located, locate(program, step.block));
  if (located.block->reduction != Reduction::sum)
    return illegal(fmt::format("block '{}' adds nothing up", step.block));
  std::vector<const Block*> blocks = blocks_of(program.main);
  for (const Block* block : blocks_of(program.prepare)) blocks.push_back(block);
  const std::vector<Limit> limits = where_nonzero(
      located.block->value, [&](const Tensor& tensor) { return definition_of(blocks, tensor); });
  Substitution bindings;
  for (const BlockAxis& axis : located.block->axes) bindings.emplace_back(axis.axis.var, axis.binding);
  const Ranges ranges = ranges_of(located.path);
  Block result = *located.block;
  for (const Limit& limit : limits) {
    const Affine value = simplify(substitute(limit.value, bindings), ranges);
    const auto reach = bounds(value, ranges);
    const bool always_holds = reach && reach->hi < limit.bound;
    const bool is_known = std::ranges::any_of(result.predicate, [&](const Conjunct& known) {
      return known.is_neutral && known.bound == limit.bound && known.value == value;
    });
    if (always_holds || is_known || !can_be_tested(value, located.path)) continue;
    result.predicate.push_back({value, limit.bound, -1, Tail::guard, /*is_neutral=*/true});
  }
  if (result.predicate.size() == located.block->predicate.size()) return program;
  return with_replaced(program, located.in_prepare, located.path.back().get(), make_stmt(std::move(result)));
}

std::string describe(const SkipZerosStep&) {
  return "leaves out what is multiplied by the zeros around and between its inputs";
}

}  // namespace lathe
