#include "space/lathe/gpu/staged_product.h"

#include <fmt/format.h>

#include <algorithm>

#include "expr/walk.h"
#include "schedule/apply.h"
#include "space/lathe/gpu/each_thread.h"
#include "space/rules/vectors.h"

namespace lathe {
namespace {

bool is_one_sided(const Operand& operand, size_t with, size_t without) {
  return operand.uses[with] && !operand.uses[without];
}

std::string axis_name(const Compute& compute, size_t axis) { return compute.axes[axis].var.name(); }

// The longest reduce axis: what one step has of it is chosen.
size_t stepped_axis(const Compute& compute) {
  size_t longest = compute.spatial_count();
  for (size_t axis = longest; axis < compute.axes.size(); ++axis) {
    if (compute.axes[axis].extent > compute.axes[longest].extent) longest = axis;
  }
  return longest;
}

class StagedProductDecider {
 public:
  StagedProductDecider(Decider& decider, const Stage& stage, const SidesOfTile& sides)
      : d_(decider), stage_(stage), compute_(decider.compute(stage)), name_(compute_.output->name) {
    made_.compute = stage.compute;
    made_.sides = sides;
    made_.stepped = stepped_axis(compute_);
  }

  StagedProductDecision decide() {
    choose_tile();
    choose_steps();
    stage_operands();
    check();
    return std::move(made_);
  }

 private:
  int64_t extent(size_t axis) const { return compute_.axes[axis].extent; }
  void choose_tile();
  TileSide choose_side(const std::string& side, int64_t extent, int64_t tile);
  void choose_steps();
  int64_t bytes_of_step(int64_t depth, bool has_all_inside) const;
  std::optional<int64_t> staged_elements(const Load& load, int64_t depth, bool has_all_inside) const;
  bool may_be_staged(const Load& load) const;
  void stage_operands();
  void check();

  Decider& d_;
  const Stage& stage_;
  const Compute& compute_;
  const std::string& name_;
  StagedProductDecision made_;
};

// The tile shrinks, its longer side first, until every unit of the device has a block.
void StagedProductDecider::choose_tile() {
  const auto at_most = [this](int64_t extent) {
    int64_t tile = whole(d_.costs.block_tile);
    while (tile > 1 && tile / 2 >= extent) tile /= 2;
    return tile;
  };
  const int64_t row_extent = extent(made_.sides.rows);
  const int64_t column_extent = extent(made_.sides.columns);
  int64_t others = 1;
  for (size_t axis = 0; axis < compute_.spatial_count(); ++axis) {
    if (axis != made_.sides.rows && axis != made_.sides.columns) others *= extent(axis);
  }
  int64_t rows = at_most(row_extent);
  int64_t columns = at_most(column_extent);
  const auto blocks = [&] { return others * ceil_div(row_extent, rows) * ceil_div(column_extent, columns); };
  while (blocks() < d_.task.target.gpu().compute_units &&
         std::max(rows, columns) > whole(d_.costs.least_block_tile))
    (rows > columns ? rows : columns) /= 2;
  made_.rows = choose_side("rows", row_extent, rows);
  made_.columns = choose_side("columns", column_extent, columns);
}

TileSide StagedProductDecider::choose_side(const std::string& side, int64_t extent, int64_t tile) {
  const std::string prefix = name_ + "." + side;
  const int64_t each = tile > whole(d_.costs.least_block_tile) / 2 ? whole(d_.costs.thread_side) : 1;
  const int64_t most = std::min<int64_t>(whole(d_.costs.block_tile), extent);
  TileSide made;
  made.threads =
      d_.choose.choose(prefix + ".threads", powers_of_two(std::min<int64_t>(32, most)), tile / each);
  made.each = d_.choose.choose(prefix + ".each", powers_of_two(std::min<int64_t>(8, most)), each);
  made.apart = d_.choose.choose(prefix + ".apart", powers_of_two(std::min<int64_t>(4, most)), 1);
  return made;
}

void StagedProductDecider::choose_steps() {
  const auto room = d_.task.target.gpu().local_bytes;
  const int64_t terms = extent(made_.stepped);
  const bool fits = bytes_of_step(1, true) <= room;
  made_.has_all_inside = d_.choose.choose_kind(name_ + ".inside", 2, fits ? 1 : 0) != 0;
  int64_t depth = whole(d_.costs.staged_terms);
  while (depth > 1 && bytes_of_step(depth, made_.has_all_inside) > room) depth /= 2;
  made_.depth = d_.choose.choose(name_ + ".depth", powers_of_two(std::min<int64_t>(64, terms)), depth);
}

// What one step reads of a tensor: a box, as far as its indices are sums of axes.
std::optional<int64_t> StagedProductDecider::staged_elements(const Load& load, int64_t depth,
                                                             bool has_all_inside) const {
  Ranges ranges;
  for (size_t axis = 0; axis < compute_.axes.size(); ++axis) {
    int64_t places = axis < compute_.spatial_count() || !has_all_inside ? 1 : extent(axis);
    if (axis == made_.sides.rows) places = made_.rows.results();
    if (axis == made_.sides.columns) places = made_.columns.results();
    if (axis == made_.stepped) places = depth;
    ranges.set_extent(compute_.axes[axis].var, places);
  }
  int64_t elements = 1;
  for (const Affine& index : load.index) {
    const auto reach = bounds(index, ranges);
    if (!reach) return std::nullopt;
    elements *= reach->hi - reach->lo + 1;
  }
  return elements;
}

// One copy serves all that the compute reads of a tensor: where it is read in several ways, or at places that
// are computed, it stays where it is.
bool StagedProductDecider::may_be_staged(const Load& load) const {
  const auto& [rows, columns] = made_.sides;
  const bool varies_once = std::ranges::any_of(stage_.operands, [&](const Operand& operand) {
    return operand.load == &load &&
           (is_one_sided(operand, rows, columns) || is_one_sided(operand, columns, rows));
  });
  if (!varies_once || !staged_elements(load, 1, false)) return false;
  return std::ranges::none_of(loads_of(compute_.body), [&](const Load* other) {
    return other->tensor == load.tensor && other->index != load.index;
  });
}

int64_t StagedProductDecider::bytes_of_step(int64_t depth, bool has_all_inside) const {
  int64_t bytes = 0;
  for (const Operand& operand : stage_.operands) {
    if (!may_be_staged(*operand.load)) continue;
    bytes += *staged_elements(*operand.load, depth, has_all_inside) * bytes_of(operand.load->tensor->dtype);
  }
  return bytes;
}

void StagedProductDecider::stage_operands() {
  const bool stages = d_.choose.choose_kind(name_ + ".staged", 2, 1) != 0;
  for (const Operand& operand : stage_.operands) {
    const Tensor& tensor = operand.load->tensor;
    const bool is_there =
        std::ranges::find(made_.staged, tensor->name, &StagedOperand::tensor) != made_.staged.end();
    if (!stages || is_there || !may_be_staged(*operand.load)) continue;
    const int64_t elements = *staged_elements(*operand.load, made_.depth, made_.has_all_inside);
    made_.staged.push_back({tensor->name, d_.name_copy(tensor, name_), tensor->shape.size(), elements});
  }
}

void StagedProductDecider::check() {
  const auto refuse = [&](std::string reason) {
    if (!d_.violation) d_.violation = Error{ErrorKind::illegal_schedule, std::move(reason), {}, {}};
  };
  const GpuTarget& device = d_.task.target.gpu();
  if (made_.threads() > device.work_group_size)
    refuse(fmt::format("a block of {} threads is larger than {}", made_.threads(), device.work_group_size));
  const int64_t accumulators = made_.rows.apart * made_.rows.each * made_.columns.apart * made_.columns.each;
  if (accumulators > whole(d_.costs.thread_accumulators))
    refuse(fmt::format("{} accumulators of a thread are more than {}", accumulators,
                       whole(d_.costs.thread_accumulators)));
  const int64_t bytes = made_.staged.empty() ? 0 : bytes_of_step(made_.depth, made_.has_all_inside);
  if (bytes > device.local_bytes)
    refuse(fmt::format("a step stages {} bytes, more than {}", bytes, device.local_bytes));
}

class StagedProductWriter {
 public:
  StagedProductWriter(Writer& writer, const StagedProductDecision& decision)
      : w_(writer),
        made_(decision),
        stage_(writer.stages.of(decision.compute)),
        compute_(writer.compute(stage_)),
        name_(compute_.output->name),
        row_(axis_name(compute_, decision.sides.rows)),
        column_(axis_name(compute_, decision.sides.columns)),
        stepped_(axis_name(compute_, decision.stepped)) {}

  void write() {
    const std::vector<std::string> blocks = write_tile();
    write_results(blocks.back());
    for (const StagedOperand& operand : made_.staged)
      w_.add(CacheReadStep{name_, operand.tensor, operand.copy, stepped_ + ".0", Scope::shared, {}, {}});
    for (const std::string& loop : blocks) bind(name_, loop, LoopKind::block);
    bind(name_, row_ + ".2", LoopKind::thread);
    bind(name_, column_ + ".2", LoopKind::thread);
    for (const StagedOperand& operand : made_.staged) write_copy(operand);
  }

 private:
  void bind(const std::string& block, const std::string& loop, LoopKind kind) {
    w_.add(AnnotateStep{block, loop, kind});
  }
  std::vector<std::string> write_tile();
  void write_results(const std::string& at);
  void write_copy(const StagedOperand& operand);

  Writer& w_;
  const StagedProductDecision& made_;
  const Stage& stage_;
  const Compute& compute_;
  const std::string& name_;
  std::string row_;
  std::string column_;
  std::string stepped_;
};

// Gives the loops of blocks, outermost first.
std::vector<std::string> StagedProductWriter::write_tile() {
  const TileSide& rows = made_.rows;
  const TileSide& columns = made_.columns;
  w_.add(SplitStep{name_, row_, {rows.apart, rows.threads, rows.each}});
  w_.add(SplitStep{name_, column_, {columns.apart, columns.threads, columns.each}});
  w_.add(SplitStep{name_, stepped_, {made_.depth}});
  std::vector<std::string> blocks;
  std::vector<std::string> others;  // loops over terms
  for (size_t axis = 0; axis < compute_.axes.size(); ++axis) {
    const std::string loop = axis_name(compute_, axis);
    if (axis >= compute_.spatial_count()) {
      if (axis != made_.stepped) others.push_back(loop);
    } else if (axis != made_.sides.rows && axis != made_.sides.columns) {
      blocks.push_back(loop);
    }
  }
  blocks.push_back(row_ + ".0");
  blocks.push_back(column_ + ".0");
  ReorderStep order{name_, blocks};
  const auto add = [&](const std::vector<std::string>& loops) {
    order.loops.insert(order.loops.end(), loops.begin(), loops.end());
  };
  if (!made_.has_all_inside) add(others);
  add({stepped_ + ".0", row_ + ".2", column_ + ".2", stepped_ + ".1"});
  if (made_.has_all_inside) add(others);
  const std::vector<std::string> of_thread = {row_ + ".1", column_ + ".1", row_ + ".3", column_ + ".3"};
  add(of_thread);
  w_.add(order);
  for (const std::string& loop : of_thread) w_.add(AnnotateStep{name_, loop, LoopKind::unrolled});
  return blocks;
}

// Each thread stores, or its consumer takes, what it has computed.
void StagedProductWriter::write_results(const std::string& at) {
  std::string block = name_ + ".acc.out";
  std::string row = row_;
  std::string column = column_;
  if (stage_.epilogue) {
    const Compute& epilogue = w_.dag.computes[*stage_.epilogue];
    block = epilogue.output->name;
    w_.add(ReverseComputeAtStep{block, name_, at, Scope::registers});
    for (const Load* load : loads_of(epilogue.body)) {
      if (load->tensor != compute_.output) continue;
      const std::vector<std::string> loops = side_loop_names(load->index);
      row = loops[made_.sides.rows];
      column = loops[made_.sides.columns];
    }
  } else {
    w_.add(CacheWriteStep{name_, name_ + ".acc", at, Scope::registers});
  }
  w_.add(SplitStep{block, row, {made_.rows.threads, made_.rows.each}});
  w_.add(SplitStep{block, column, {made_.columns.threads, made_.columns.each}});
  const std::vector<std::string> of_thread = {row + ".0", column + ".0", row + ".2", column + ".2"};
  ReorderStep order{block, {row + ".1", column + ".1"}};
  order.loops.insert(order.loops.end(), of_thread.begin(), of_thread.end());
  w_.add(order);
  bind(block, row + ".1", LoopKind::thread);
  bind(block, column + ".1", LoopKind::thread);
  for (const std::string& loop : of_thread) w_.add(AnnotateStep{block, loop, LoopKind::unrolled});
}

// All threads of the block copy, neighbours side by side; a single element is one thread's.
void StagedProductWriter::write_copy(const StagedOperand& operand) {
  if (operand.elements == 1) return;
  std::string loop = "d0";
  FuseStep fuse{operand.copy, {loop}};
  for (size_t dim = 1; dim < operand.dims; ++dim) {
    fuse.loops.push_back(fmt::format("d{}", dim));
    loop += "_" + fuse.loops.back();
  }
  if (operand.dims > 1) w_.add(fuse);
  w_.add(SplitStep{operand.copy, loop, {made_.threads()}});
  w_.add(ReorderStep{operand.copy, {loop + ".1", loop + ".0"}});
  bind(operand.copy, loop + ".1", LoopKind::thread);
}

}  // namespace

std::optional<SidesOfTile> sides_of_tile(const Compute& compute, const Stage& stage) {
  std::optional<SidesOfTile> best;
  const auto length = [&](const SidesOfTile& sides) {
    return std::min(compute.axes[sides.rows].extent, compute.axes[sides.columns].extent);
  };
  for (size_t rows = 0; rows < compute.spatial_count(); ++rows) {
    for (size_t columns = rows + 1; columns < compute.spatial_count(); ++columns) {
      const SidesOfTile sides{rows, columns};
      const auto has = [&](size_t with, size_t without) {
        return std::ranges::any_of(
            stage.operands, [&](const Operand& operand) { return is_one_sided(operand, with, without); });
      };
      const bool is_shared = length(sides) > 1 && has(rows, columns) && has(columns, rows);
      if (is_shared && (!best || length(sides) > length(*best))) best = sides;
    }
  }
  return best;
}

StagedProductDecision decide_staged_product(Decider& decider, const Stage& stage, const SidesOfTile& sides) {
  return StagedProductDecider(decider, stage, sides).decide();
}

void write_staged_product(Writer& writer, const StagedProductDecision& decision) {
  StagedProductWriter(writer, decision).write();
}

}  // namespace lathe
