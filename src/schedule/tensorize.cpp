// tensorize: the iterations of a reduce loop become one intrinsic's work.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>

#include "expr/print.h"
#include "intrinsics/intrinsic.h"
#include "schedule/primitive.h"

namespace lathe {
namespace {

Result<const Intrinsic*> intrinsic_named(const std::string& name) {
  const Intrinsic* intrinsic = find_intrinsic(name);
  if (intrinsic != nullptr) return intrinsic;
  return illegal(fmt::format("there is no intrinsic '{}'; the intrinsics are {}", name,
                             fmt::join(intrinsics() | std::views::transform(&Intrinsic::name), ", ")));
}

// Each iteration is one step along one reduce axis.
Status check_is_step(const Block& block, const Var& loop) {
  const auto drives = [&](const BlockAxis& axis) { return axis.binding.uses(loop); };
  const auto axis = std::ranges::find_if(block.axes, drives);
  const bool is_step = axis != block.axes.end() && axis->axis.kind == AxisKind::reduce &&
                       axis->binding.coefficient(loop) == 1 && !axis->binding.uses_inside_atom(loop);
  if (is_step && std::ranges::count_if(block.axes, drives) == 1) return {};
  return illegal(
      fmt::format("loop '{}' does not step along one reduce axis of block '{}'", loop.name(), block.name));
}

}  // namespace

Result<Program> apply(const Program& program, const TensorizeStep& step) {
  LATHE_TRY(const Located located, locate(program, step.block));
  LATHE_TRY(const size_t position, located.loop(step.loop));
  LATHE_TRY(const Intrinsic* intrinsic, intrinsic_named(step.intrinsic));
  For loop = located.loop_at(position);
  if (loop.kind != LoopKind::serial) return illegal(fmt::format("loop '{}' is annotated already", step.loop));
  if (constant_extent(loop) != intrinsic->group) {
    return illegal(fmt::format("intrinsic '{}' takes {} elements together, and loop '{}' has {} iterations",
                               step.intrinsic, intrinsic->group, step.loop,
                               fmt::join(loop.extents | std::views::transform([](const Affine& extent) {
                                           return to_string(extent);
                                         }),
                                         " or ")));
  }
  if (position + 2 != located.path.size()) {
    return illegal(fmt::format("loop '{}' is not the innermost one of block '{}'", step.loop, step.block));
  }
  LATHE_TRY_STATUS(check_is_step(*located.block, loop.var));
  if (located.block->reduction != Reduction::sum || !match_factors(*intrinsic, located.block->value)) {
    return illegal(fmt::format("block '{}' adds up no products of {} and {} as {}, as intrinsic '{}' does",
                               step.block, to_string(intrinsic->a), to_string(intrinsic->b),
                               to_string(intrinsic->result), step.intrinsic));
  }
  loop.kind = LoopKind::tensorized;
  loop.intrinsic = step.intrinsic;
  return with_replaced(program, located.in_prepare, located.path[position].get(), make_stmt(std::move(loop)));
}

std::string describe(const TensorizeStep& step) {
  return fmt::format("adds up loop {} by the intrinsic {}", step.loop, step.intrinsic);
}

}  // namespace lathe
