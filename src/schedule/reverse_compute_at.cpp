// reverse_compute_at: a consumer moves to where its producer's values have just been written.
#include <fmt/format.h>

#include <algorithm>

#include "loop/region.h"
#include "schedule/apply.h"
#include "schedule/invert_index.h"
#include "schedule/primitive.h"
#include "schedule/written_nest.h"

namespace lathe {
namespace {

Result<const Load*> only_load(const Block& block, const Tensor& tensor) {
  const Load* found = nullptr;
  for (const Load* load : loads_of(block.value)) {
    if (load->tensor != tensor) continue;
    if (found != nullptr && found->index != load->index) {
      return illegal(fmt::format("block '{}' reads '{}' in several ways", block.name, tensor->name));
    }
    found = load;
  }
  return found;
}

// The consumer's nest runs over what one iteration of the producer's loop wrote (written_nest.h); its axes
// are found by inverting the index of its load.
Result<Stmt> consumer_nest(Block block, const Load& load, WrittenNest nest, const Ranges& fixed) {
  const Tensor& tensor = load.tensor;
  Ranges domains;
  for (const BlockAxis& axis : block.axes) domains.set_extent(axis.axis.var, axis.axis.extent);
  IndexInverter inverter(domains);
  Ranges ranges = fixed;
  for (const auto& [loop, extent] : nest.loops) ranges.set_extent(loop, extent);
  block.predicate = std::move(nest.conditions);
  for (Conjunct& conjunct : block.predicate) conjunct.axis = -1;
  for (size_t dim = 0; dim < nest.index.size(); ++dim) {
    const Affine& value = nest.index[dim];
    if (!inverter.equate(load.index[dim], value)) {
      return illegal(fmt::format("block '{}' reads at '{}', which cannot be inverted", block.name,
                                 to_string(load.index[dim])));
    }
    const auto asked = bounds(load.index[dim], domains);
    if (!asked || asked->lo < 0 || asked->hi >= tensor->shape[dim]) {
      return illegal(
          fmt::format("block '{}' has elements for which it reads none of '{}'", block.name, tensor->name));
    }
    const auto interval = bounds(value, ranges);
    if (!load.index[dim].as_var() && (!interval || interval->hi >= tensor->shape[dim])) {
      block.predicate.push_back({value, tensor->shape[dim], -1, Tail::guard});
    }
  }
  for (size_t i = 0; i < block.axes.size(); ++i) {
    BlockAxis& axis = block.axes[i];
    if (inverter.constrains(axis.axis.var)) {
      const auto value = inverter.axis(axis.axis.var);
      if (!value) {
        return illegal(fmt::format("block '{}' does not read every '{}' of '{}'", block.name,
                                   axis.axis.var.name(), tensor->name));
      }
      axis.binding = *value;
    } else {
      const Var loop(axis.axis.var.name());
      nest.loops.emplace_back(loop, axis.axis.extent);
      ranges.set_extent(loop, axis.axis.extent);
      axis.binding = Affine(loop);
    }
    guard_domain(block, i, ranges);
  }
  return in_loops(std::move(block), nest.loops);
}

// Whatever else the consumer reads must be there: written before it in program order, and where both lie in a
// loop, as much of it in each iteration as is read.
Status check_inputs_written(const Program& program, const std::string& consumer) {
  LATHE_TRY(const Located reader, locate(program, consumer));
  bool behind = false;
  for (const Block* writer : blocks_of(program.main)) {
    behind |= writer == reader.block;
    if (writer == reader.block || !reads(*reader.block, writer->output)) continue;
    const auto missing = [&] {
      return illegal(fmt::format("block '{}' needs '{}' before it is there", consumer, writer->output->name));
    };
    if (behind) return missing();
    const Path path = path_to_block(program.main, writer->name);
    size_t shared = 0;
    for (size_t i = 0; i < path.size() && path[i] == reader.path[i]; ++i) {
      if (as<For>(path[i]) != nullptr) shared = i + 1;
    }
    if (shared == 0) continue;
    const Ranges fixed = ranges_of(Path(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(shared)));
    const Stmt& body = as<For>(path[shared - 1])->body;
    const auto read = region(body, writer->output, Access::read, fixed);
    const auto written = region(body, writer->output, Access::write, fixed);
    for (size_t d = 0; d < read->size(); ++d) {
      const bool whole = (*written)[d].base.is(0) && (*written)[d].extent >= writer->output->shape[d];
      const bool same = (*read)[d].base == (*written)[d].base && (*read)[d].extent <= (*written)[d].extent;
      if (!whole && !same) return missing();
    }
  }
  return {};
}

// In a loop that both lie in already, the consumer must go through a box: a copy made for it reaches over the
// gaps of anything else, with values there that are none of its own.
Status check_reads_box(const Located& consumer, const Located& producer) {
  std::optional<size_t> shared;
  const size_t length = std::min(consumer.path.size(), producer.path.size());
  for (size_t i = 0; i < length && consumer.path[i] == producer.path[i]; ++i) {
    if (as<For>(consumer.path[i]) != nullptr) shared = i;
  }
  if (!shared) return {};
  const std::vector<Affine>& index = consumer.block->output_index;
  const WrittenNest own = written_nest(consumer, *shared, side_loop_names(index));
  bool is_box = own.conditions.empty() && own.loops.size() == own.index.size();
  for (size_t dim = 0; is_box && dim < own.index.size(); ++dim) {
    const Affine base = own.index[dim] - Affine(own.loops[dim].first);
    is_box = std::ranges::none_of(own.loops, [&](const auto& loop) { return base.uses(loop.first); });
  }
  if (is_box) return {};
  return illegal(fmt::format("block '{}' leaves gaps in '{}' in an iteration of loop '{}'",
                             consumer.block->name, consumer.block->output->name,
                             consumer.loop_at(*shared).var.name()));
}

// What the producer's reduction has completed when its last iteration ends, whether or not that adds
// something.
WrittenNest complete_nest(const Located& producer, size_t position, const Load& load) {
  WrittenNest nest = written_nest(producer, position, side_loop_names(load.index));
  std::erase_if(nest.conditions, [&](const Conjunct& conjunct) {
    return std::ranges::any_of(reduce_loops(producer),
                               [&](size_t i) { return conjunct.value.uses(producer.loop_at(i).var); });
  });
  return nest;
}

}  // namespace

std::vector<std::string> side_loop_names(const std::vector<Affine>& index) {
  std::vector<std::string> names;
  for (size_t dim = 0; dim < index.size(); ++dim) {
    std::vector<Var> vars;
    collect_vars(index[dim], vars);
    std::string name = vars.empty() ? fmt::format("d{}", dim) : vars.front().name();
    if (std::ranges::find(names, name) != names.end()) name += fmt::format("_d{}", dim);
    names.push_back(std::move(name));
  }
  return names;
}

Result<Program> apply(const Program& program, const ReverseComputeAtStep& step) {
  LATHE_TRY(const Located consumer, locate(program, step.block));
  LATHE_TRY(const Located producer, locate(program, step.producer));
  LATHE_TRY(const size_t position, producer.loop(step.loop));
  const Block& block = *consumer.block;
  const Tensor tensor = producer.block->output;
  if (block.reduction != Reduction::none) return illegal(fmt::format("block '{}' reduces", step.block));
  if (!reads(block, tensor)) {
    return illegal(fmt::format("block '{}' does not read '{}'", step.block, tensor->name));
  }
  LATHE_TRY_STATUS(check_movable(consumer));
  LATHE_TRY_STATUS(check_sole_writer(program, block));
  LATHE_TRY_STATUS(check_unmixed(producer, position));
  for (const Conjunct& conjunct : block.predicate) {
    if (conjunct.axis < 0) return illegal(fmt::format("block '{}' runs under a condition", step.block));
  }
  const StmtNode* nest = own_nest(consumer);
  if (std::ranges::any_of(consumer.path, [&](const Stmt& stmt) { return stmt == producer.path[position]; })) {
    return illegal(fmt::format("block '{}' lies in loop '{}' already", step.block, step.loop));
  }
  LATHE_TRY_STATUS(check_reads_box(consumer, producer));
  const Ranges fixed = ranges_of(Path(producer.path.begin(), producer.path.begin() + position + 1));
  LATHE_TRY(const Load* load, only_load(block, tensor));
  LATHE_TRY(Stmt moved, consumer_nest(block, *load, complete_nest(producer, position, *load), fixed));
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
  LATHE_TRY_STATUS(check_inputs_written(inserted, step.block));
  return sink_alloc(inserted, tensor, placed.get(), step.scope);
}

std::string describe(const ReverseComputeAtStep& step) {
  return fmt::format("takes over what one iteration of loop {} of {} gives, in {}", step.loop, step.producer,
                     place_in_words(step.scope));
}

}  // namespace lathe
