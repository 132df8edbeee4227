// Primitives that move a producer into its consumers: inline, compute_at, and out of the timed program:
// prepare.
#include <fmt/format.h>

#include <algorithm>

#include "loop/region.h"
#include "schedule/primitive.h"

namespace lathe {
namespace {

// Conditions that guard an axis follow from its domain; others move only if they are over axes.
Status check_conditions_move(const Block& block) {
  for (const Conjunct& conjunct : block.predicate) {
    if (conjunct.axis >= 0 || conjunct.is_neutral) continue;
    std::vector<Var> vars;
    collect_vars(conjunct.value, vars);
    for (const Var& var : vars) {
      const bool bound =
          std::ranges::any_of(block.axes, [&](const BlockAxis& axis) { return axis.binding == Affine(var); });
      if (!bound) {
        return illegal(fmt::format("block '{}' depends on loop '{}' by a condition that cannot move with it",
                                   block.name, var.name()));
      }
    }
  }
  return {};
}

// The sides of a producer's nest that give what `box` asks for, clipped to the producer's domain.
std::vector<NestSide> producer_sides(const Block& block, const Box& box, const Ranges& fixed) {
  std::vector<NestSide> sides;
  for (size_t i = 0; i < block.output_index.size(); ++i) {
    const int64_t domain = block.axes[i].axis.extent;
    const Affine base = simplify(box[i].base, fixed);
    const auto interval = bounds(base, fixed);
    const bool whole =
        interval && base.is_constant() && base.constant() <= 0 && base.constant() + box[i].extent >= domain;
    if (whole) {
      sides.push_back({i, Affine(0), domain});
    } else {
      sides.push_back({i, base, box[i].extent});
    }
  }
  return sides;
}

}  // namespace

Result<Program> apply(const Program& program, const InlineStep& step) {
  LATHE_TRY(const Located located, locate(program, step.block));
  const Block& block = *located.block;
  if (block.reduction != Reduction::none) return illegal(fmt::format("block '{}' reduces", step.block));
  if (block.axes.size() > block.output_index.size()) {
    return illegal(fmt::format("block '{}' is a part of a reduction", step.block));
  }
  LATHE_TRY_STATUS(check_intermediate(program, block));
  LATHE_TRY_STATUS(check_point_wise_output(block));
  if (!block.predicate.empty())
    return illegal(fmt::format("block '{}' is split imperfectly already", step.block));
  const StmtNode* nest = own_nest(located);
  const Program removed = without_alloc(with_replaced(program, false, nest, nullptr), block.output);
  Program result = removed;
  const auto inline_load = [&](const Expr& e) -> Expr {
    const Load* load = e.as<Load>();
    if (load == nullptr || load->tensor != block.output) return {};
    Substitution values;
    for (size_t i = 0; i < load->index.size(); ++i)
      values.emplace_back(block.axes[i].axis.var, load->index[i]);
    return substitute(block.value, values);
  };
  result.main = rebuild(removed.main, [&](const Stmt& stmt) -> std::optional<Stmt> {
    const Block* consumer = as<Block>(stmt);
    if (consumer == nullptr || !reads(*consumer, block.output)) return std::nullopt;
    Block rewritten = *consumer;
    rewritten.value = rebuild(consumer->value, {inline_load, nullptr});
    return make_stmt(std::move(rewritten));
  });
  return result;
}

std::string describe(const InlineStep&) { return "is computed where it is read"; }

Result<Program> apply(const Program& program, const PrepareStep& step) {
  LATHE_TRY(const Located located, locate(program, step.block));
  const Block& block = *located.block;
  LATHE_TRY_STATUS(check_intermediate(program, block));
  for (const Load* load : loads_of(block.value)) {
    const auto known = [&](const auto& entry) { return entry.tensor == load->tensor; };
    const auto argument = std::ranges::find_if(program.arguments, known);
    const bool constant = (argument != program.arguments.end() && argument->is_constant) ||
                          std::ranges::any_of(program.prepared, known) || !load->tensor->literal.empty();
    if (!constant)
      return illegal(
          fmt::format("block '{}' reads '{}', which is no constant", step.block, load->tensor->name));
  }
  const StmtNode* nest = own_nest(located);
  const Stmt& moved =
      *std::ranges::find_if(located.path, [&](const Stmt& stmt) { return stmt.get() == nest; });
  const Layout layout = find_alloc(program, block.output)->layout;
  Program result = without_alloc(with_replaced(program, false, nest, nullptr), block.output);
  result.prepare = make_seq({result.prepare, moved});
  result.prepared.push_back({block.output, layout});
  return result;
}

std::string describe(const PrepareStep&) { return "is computed once, when the program is loaded"; }

Result<Program> apply(const Program& program, const ComputeAtStep& step) {
  LATHE_TRY(const Located producer, locate(program, step.block));
  LATHE_TRY(const Located consumer, locate(program, step.consumer));
  LATHE_TRY(const size_t position, consumer.loop(step.loop));
  const Block& block = *producer.block;
  LATHE_TRY_STATUS(check_intermediate(program, block));
  LATHE_TRY_STATUS(check_point_wise_output(block));
  const StmtNode* nest = own_nest(producer);
  const StmtNode* target = consumer.path[position].get();
  if (std::ranges::any_of(producer.path, [&](const Stmt& stmt) { return stmt.get() == target; })) {
    return illegal(fmt::format("block '{}' lies in loop '{}' already", step.block, step.loop));
  }
  const Stmt body = consumer.loop_at(position).body;
  for (const Block* other : blocks_of(program.main)) {
    if (other->name == block.name || !reads(*other, block.output)) continue;
    if (path_to_block(body, other->name).empty()) {
      return illegal(fmt::format("block '{}' reads '{}' outside of loop '{}'", other->name,
                                 block.output->name, step.loop));
    }
  }
  const Ranges fixed = ranges_of(Path(consumer.path.begin(), consumer.path.begin() + position + 1));
  const auto box = region(body, block.output, Access::read, fixed);
  if (!box)
    return illegal(fmt::format("block '{}' reads nothing of '{}'", step.consumer, block.output->name));
  LATHE_TRY_STATUS(check_movable(producer));
  LATHE_TRY_STATUS(check_conditions_move(block));
  const Stmt moved = make_nest(block, producer_sides(block, *box, fixed), fixed);
  const Program removed = with_replaced(program, false, nest, nullptr);
  For loop = consumer.loop_at(position);
  loop.body = insert_before_use(body, block.output, moved);
  const Stmt placed = make_stmt(std::move(loop));
  // Removing the nest copied the path above it, so the target is found by its position below the consumer.
  LATHE_TRY(const Located again, locate(removed, step.consumer));
  LATHE_TRY(const size_t place, again.loop(step.loop));
  const Program inserted = with_replaced(removed, false, again.path[place].get(), placed);
  return sink_alloc(inserted, block.output, placed.get(), step.scope);
}

std::string describe(const ComputeAtStep& step) {
  return fmt::format("is computed for one iteration of loop {} of {} at a time, in {}", step.loop,
                     step.consumer, place_in_words(step.scope));
}

}  // namespace lathe
