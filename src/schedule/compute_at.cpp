// Primitives that move a block's whole nest: inline, compute_at, reverse_compute_at.
#include <fmt/format.h>

#include <algorithm>

#include "loop/region.h"
#include "schedule/primitive.h"

namespace lathe {
namespace {

// A block may be moved while it is one nest of its own: its tree is a chain of loops down to the block alone.
// Gives the topmost node of that chain.
Result<const StmtNode*> own_nest(const Located& located) {
  size_t top = located.path.size() - 1;
  while (top > 0 && as<For>(located.path[top - 1]) != nullptr) --top;
  return located.path[top].get();
}

Status check_intermediate(const Program& program, const Block& block) {
  if (find_alloc(program, block.output) != nullptr) return {};
  return illegal(
      fmt::format("block '{}' writes '{}', which is no intermediate", block.name, block.output->name));
}

Status check_point_wise_output(const Block& block) {
  for (size_t i = 0; i < block.output_index.size(); ++i) {
    const auto var = block.output_index[i].as_var();
    if (var && i < block.axes.size() && *var == block.axes[i].axis.var) continue;
    return illegal(fmt::format("block '{}' does not write its output point by point", block.name));
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

Result<Program> inline_block(const Program& program, const InlineStep& step) {
  LATHE_TRY(const Located located, locate(program, step.block));
  const Block& block = *located.block;
  if (block.reduction != Reduction::none) return illegal(fmt::format("block '{}' reduces", step.block));
  LATHE_TRY_STATUS(check_intermediate(program, block));
  LATHE_TRY_STATUS(check_point_wise_output(block));
  if (!block.predicate.empty())
    return illegal(fmt::format("block '{}' is split imperfectly already", step.block));
  LATHE_TRY(const StmtNode* nest, own_nest(located));
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

Result<Program> compute_at(const Program& program, const ComputeAtStep& step) {
  LATHE_TRY(const Located producer, locate(program, step.block));
  LATHE_TRY(const Located consumer, locate(program, step.consumer));
  LATHE_TRY(const size_t position, consumer.loop(step.loop));
  const Block& block = *producer.block;
  LATHE_TRY_STATUS(check_intermediate(program, block));
  LATHE_TRY_STATUS(check_point_wise_output(block));
  LATHE_TRY(const StmtNode* nest, own_nest(producer));
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

namespace {

// The consumer's axes as functions of the producer's dimensions: axis -> (dimension, constant), by loads
// whose index is the axis plus a constant. Every load of the tensor must agree.
Result<std::vector<NestSide>> consumer_sides(const Block& block, const Tensor& tensor, const Box& box,
                                             const Ranges& fixed) {
  std::vector<NestSide> sides;
  for (const Load* load : loads_of(block.value)) {
    if (load->tensor != tensor) continue;
    for (size_t dim = 0; dim < load->index.size(); ++dim) {
      const Affine& index = load->index[dim];
      const auto var = (index - index.constant()).as_var();
      const auto axis =
          !var ? block.axes.end() : std::ranges::find_if(block.axes, [&](const BlockAxis& candidate) {
            return candidate.axis.var == *var;
          });
      if (axis == block.axes.end()) {
        if (index.is_constant()) continue;
        return illegal(fmt::format("block '{}' does not read '{}' point by point", block.name, tensor->name));
      }
      const size_t position = static_cast<size_t>(axis - block.axes.begin());
      const NestSide side{position, simplify(box[dim].base - index.constant(), fixed),
                          std::min(box[dim].extent, axis->axis.extent)};
      const auto known = std::ranges::find_if(sides, [&](const NestSide& s) { return s.axis == position; });
      if (known == sides.end()) {
        sides.push_back(side);
      } else if (!(known->base == side.base) || known->extent != side.extent) {
        return illegal(fmt::format("block '{}' reads '{}' in several ways", block.name, tensor->name));
      }
    }
  }
  return sides;
}

}  // namespace

Result<Program> reverse_compute_at(const Program& program, const ReverseComputeAtStep& step) {
  LATHE_TRY(const Located consumer, locate(program, step.block));
  LATHE_TRY(const Located producer, locate(program, step.producer));
  LATHE_TRY(const size_t position, producer.loop(step.loop));
  const Block& block = *consumer.block;
  const Tensor tensor = producer.block->output;
  if (block.reduction != Reduction::none) return illegal(fmt::format("block '{}' reduces", step.block));
  if (!reads(block, tensor)) {
    return illegal(fmt::format("block '{}' does not read '{}'", step.block, tensor->name));
  }
  LATHE_TRY(const StmtNode* nest, own_nest(consumer));
  if (std::ranges::any_of(consumer.path, [&](const Stmt& stmt) { return stmt == producer.path[position]; })) {
    return illegal(fmt::format("block '{}' lies in loop '{}' already", step.block, step.loop));
  }
  const Ranges fixed = ranges_of(Path(producer.path.begin(), producer.path.begin() + position + 1));
  const auto box = region(producer.loop_at(position).body, tensor, Access::write, fixed);
  if (!box)
    return illegal(fmt::format("block '{}' writes nothing below loop '{}'", step.producer, step.loop));
  LATHE_TRY(const std::vector<NestSide> sides, consumer_sides(block, tensor, *box, fixed));
  Stmt moved = make_nest(block, sides, fixed);
  // Below reduce loops of the producer its result is complete in their last iterations only.
  std::vector<Conjunct> last;
  for (size_t i : reduce_loops(producer)) {
    if (i > position) continue;
    const For& loop = producer.loop_at(i);
    last.push_back({Affine(constant_extent(loop) - 1) - Affine(loop.var), 1, -1, Tail::guard});
  }
  moved = rebuild(moved, [&](const Stmt& stmt) -> std::optional<Stmt> {
    const Block* inner = as<Block>(stmt);
    if (inner == nullptr || last.empty()) return std::nullopt;
    Block guarded = *inner;
    guarded.predicate.insert(guarded.predicate.end(), last.begin(), last.end());
    return make_stmt(std::move(guarded));
  });
  const Program removed = with_replaced(program, false, nest, nullptr);
  LATHE_TRY(const Located again, locate(removed, step.producer));
  LATHE_TRY(const size_t place, again.loop(step.loop));
  For loop = again.loop_at(place);
  loop.body = append(loop.body, moved);
  const Stmt placed = make_stmt(std::move(loop));
  const Program inserted = with_replaced(removed, false, again.path[place].get(), placed);
  return sink_alloc(inserted, tensor, placed.get(), step.scope);
}

}  // namespace lathe
