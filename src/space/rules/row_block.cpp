// Rule: stages that share leading axes run together for a block of rows, so that what lies between them stays
// in the caches: a product of scores, their largest, the exponentials, their sum and the quotient pass over
// memory once. Vectors run along the last axis inside a row; a reduction keeps partial results in the lanes,
// for several rows side by side.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "space/rules/rules.h"

namespace lathe {
namespace {

class RowBlockWriter {
 public:
  RowBlockWriter(Writer& writer, const RowBlock& block, const std::map<size_t, TileAxes>& tiles)
      : w_(writer),
        block_(block),
        tiles_(tiles),
        rows_(*rows_of_block(block, tiles)),
        extent_(compute(block.last).axes[block.axes.at(block.last)[rows_]].extent) {}

  Status write();

 private:
  const Compute& compute(size_t stage) const { return w_.dag.computes[stage]; }
  const std::string& name(size_t stage) const { return compute(stage).output->name; }
  std::string axis_name(size_t stage, size_t axis) const { return compute(stage).axes[axis].var.name(); }
  std::string rows_name(size_t stage) const { return axis_name(stage, block_.axes.at(stage)[rows_]); }
  bool is_common(size_t stage, size_t axis) const;
  std::optional<size_t> vector_axis(size_t stage) const;
  bool runs_in_lanes(size_t stage) const;
  bool is_taken_by_product(size_t stage) const;
  int64_t bytes_of_row() const;
  int64_t choose_size();
  void write_vectors(size_t stage, const std::vector<std::string>& outer);
  std::string write_last();
  void write_partial_results(size_t stage);
  void move_into_rows(const std::string& loop);
  Status write_member(size_t stage);
  void write_reduction_in_lanes(size_t stage);
  Status write_product_of_rows(size_t stage, const TileAxes& tile);

  Writer& w_;
  const RowBlock& block_;
  const std::map<size_t, TileAxes>& tiles_;
  size_t rows_;  // the place among the common axes of the one that is cut into blocks
  int64_t extent_;
  int64_t size_ = 1;
};

bool RowBlockWriter::is_common(size_t stage, size_t axis) const {
  const std::vector<size_t>& common = block_.axes.at(stage);
  return std::ranges::find(common, axis) != common.end();
}

// The last axis inside a row.
std::optional<size_t> RowBlockWriter::vector_axis(size_t stage) const {
  for (size_t axis = compute(stage).spatial_count(); axis-- > 0;) {
    if (!is_common(stage, axis)) return axis;
  }
  return std::nullopt;
}

bool RowBlockWriter::runs_in_lanes(size_t stage) const {
  return w_.stages.of(stage).role == Role::reduction && compute(stage).axes.back().extent >= 2 * w_.lanes();
}

// A product takes its element-wise consumer along.
bool RowBlockWriter::is_taken_by_product(size_t stage) const {
  return std::ranges::any_of(block_.members, [&](size_t member) {
    return tiles_.contains(member) && w_.stages.of(member).epilogue == stage;
  });
}

// Of all that lies between the stages.
int64_t RowBlockWriter::bytes_of_row() const {
  int64_t rows = 1;
  for (const size_t axis : block_.axes.at(block_.last)) rows *= compute(block_.last).axes[axis].extent;
  int64_t bytes = 0;
  for (const size_t member : block_.members) {
    const Tensor& tensor = compute(member).output;
    int64_t size = bytes_of(tensor->dtype);
    for (const int64_t extent : tensor->shape) size *= extent;
    bytes += size;
  }
  return std::max<int64_t>(1, bytes / rows);
}

// As many rows as an eighth of the second-level cache holds: the other operands of a product pass it, too.
int64_t RowBlockWriter::choose_size() {
  std::set<int64_t> sizes;
  for (int64_t parts = 1; parts <= std::min<int64_t>(extent_, 64); parts += parts < 16 ? 1 : parts / 8)
    sizes.insert(ceil_div(extent_, parts));
  const std::vector<int64_t> values(sizes.begin(), sizes.end());
  const int64_t most = std::max<int64_t>(w_.cpu().l2.bytes / 8 / bytes_of_row(), 8);
  int64_t preferred = values.front();
  for (const int64_t value : values) {
    if (value <= most && (extent_ % value == 0 || extent_ % preferred != 0)) preferred = value;
  }
  return w_.choose.choose(name(block_.last) + ".rows", values, preferred);
}

// The innermost axis of an element-wise stage in vectors, below the loops `outer`.
void RowBlockWriter::write_vectors(size_t stage, const std::vector<std::string>& outer) {
  const auto axis = vector_axis(stage);
  if (!axis || compute(stage).axes[*axis].extent < 2) return;
  w_.set_layout(compute(stage).output, with_last(compute(stage).output, *axis));
  const int64_t most = ceil_div(compute(stage).axes[*axis].extent, w_.lanes());
  const int64_t wanted =
      w_.choose.choose(name(stage) + ".vectors", powers_of_two(std::min<int64_t>(8, most)), 2);
  const std::string loop = axis_name(stage, *axis);
  ReorderStep order{name(stage), outer};
  for (size_t a = 0; a < compute(stage).spatial_count(); ++a) {
    if (!is_common(stage, a) && a != *axis) order.loops.push_back(axis_name(stage, a));
  }
  order.loops.push_back(loop);
  w_.add(order);
  const VectorTile tile = vector_tile(compute(stage).axes[*axis].extent, w_.lanes(), wanted);
  w_.add(SplitStep{name(stage), loop, {tile.vectors, tile.lanes}});
  w_.add(AnnotateStep{name(stage), loop + ".1", LoopKind::unrolled});
  w_.add(AnnotateStep{name(stage), loop + ".2", LoopKind::vectorized});
  w_.add(TailStep{name(stage), loop, Tail::overlap});
}

// The loops over the common axes, with the rows in blocks; gives the one in which everything else runs.
std::string RowBlockWriter::write_last() {
  const std::string rows = rows_name(block_.last);
  std::vector<std::pair<std::string, int64_t>> outer;
  for (size_t place = 0; place < block_.axes.at(block_.last).size(); ++place) {
    const size_t axis = block_.axes.at(block_.last)[place];
    if (place != rows_)
      outer.emplace_back(axis_name(block_.last, axis), compute(block_.last).axes[axis].extent);
  }
  w_.add(SplitStep{name(block_.last), rows, {size_}});
  outer.emplace_back(rows + ".0", ceil_div(extent_, size_));
  std::vector<std::string> loops;
  for (const auto& [loop, extent] : outer) loops.push_back(loop);
  loops.push_back(rows + ".1");
  write_vectors(block_.last, loops);
  return write_parallel(w_, name(block_.last), outer).back();
}

// The lanes' partial results become a stage of their own while the reduction stands alone.
void RowBlockWriter::write_partial_results(size_t stage) {
  const std::string last = compute(stage).axes.back().var.name();
  w_.add(SplitStep{name(stage), last, {w_.lanes()}});
  w_.add(RfactorStep{name(stage), last + ".1"});
}

void RowBlockWriter::move_into_rows(const std::string& loop) {
  for (size_t i = block_.members.size(); i-- > 0;) {
    const size_t member = block_.members[i];
    const auto move = [&](const std::string& block) {
      w_.add(ComputeAtStep{block, name(block_.last), loop, Scope::thread});
    };
    move(name(member));
    if (runs_in_lanes(member)) move(name(member) + ".rf");
  }
}

// Several rows side by side: the additions of one wait for each other.
void RowBlockWriter::write_reduction_in_lanes(size_t stage) {
  const std::string block = name(stage) + ".rf";
  const std::string rows = rows_name(stage);
  const std::string last = compute(stage).axes.back().var.name();
  int64_t together =
      w_.choose.choose(name(stage) + ".together", powers_of_two(std::min<int64_t>(8, extent_)), 4);
  while (size_ % together != 0) together /= 2;
  w_.add(SplitStep{block, rows, {together}});
  ReorderStep order{block, {}};
  for (size_t axis = 0; axis < compute(stage).spatial_count(); ++axis) {
    const std::string loop = axis_name(stage, axis);
    if (loop != rows) order.loops.push_back(loop);
  }
  order.loops.push_back(rows + ".0");
  for (size_t axis = compute(stage).spatial_count(); axis + 1 < compute(stage).axes.size(); ++axis)
    order.loops.push_back(axis_name(stage, axis));
  order.loops.push_back(last + ".0");
  order.loops.push_back(rows + ".1");
  order.loops.push_back(last + ".1");
  w_.add(order);
  w_.add(AnnotateStep{block, rows + ".1", LoopKind::unrolled});
  w_.add(AnnotateStep{block, last + ".1", LoopKind::vectorized});
  w_.add(TailStep{block, rows, Tail::peel});
  w_.add(CacheWriteStep{block, block + ".acc", rows + ".0", Scope::registers});
  w_.add(AnnotateStep{block + ".acc.out", rows, LoopKind::unrolled});
  w_.add(AnnotateStep{block + ".acc.out", last + ".1", LoopKind::vectorized});
  w_.add(TailStep{block + ".acc.out", rows, Tail::peel});
}

Status RowBlockWriter::write_product_of_rows(size_t stage, const TileAxes& tile) {
  GroupedLoops group{block_.axes.at(stage)[rows_], size_, extent_ % size_ != 0, {}};
  for (size_t place = 0; place < block_.axes.at(stage).size(); ++place) {
    if (place != rows_) group.single.push_back(block_.axes.at(stage)[place]);
  }
  return write_product(w_, w_.stages.of(stage), tile, group);
}

Status RowBlockWriter::write_member(size_t stage) {
  const auto tile = tiles_.find(stage);
  if (tile != tiles_.end()) return write_product_of_rows(stage, tile->second);
  if (is_taken_by_product(stage)) return {};
  if (runs_in_lanes(stage)) {
    write_reduction_in_lanes(stage);
  } else if (w_.stages.of(stage).role == Role::pointwise) {
    std::vector<std::string> loops;
    for (const size_t axis : block_.axes.at(stage)) loops.push_back(axis_name(stage, axis));
    write_vectors(stage, loops);
  }
  return {};
}

Status RowBlockWriter::write() {
  size_ = choose_size();
  const std::string loop = write_last();
  for (const size_t member : block_.members) {
    if (runs_in_lanes(member)) write_partial_results(member);
  }
  move_into_rows(loop);
  for (size_t i = block_.members.size(); i-- > 0;) LATHE_TRY_STATUS(write_member(block_.members[i]));
  return {};
}

}  // namespace

std::optional<size_t> rows_of_block(const RowBlock& block, const std::map<size_t, TileAxes>& tiles) {
  std::optional<size_t> rows;
  for (const auto& [product, tile] : tiles) {
    const auto axes = block.axes.find(product);
    if (axes == block.axes.end()) continue;
    for (size_t place = 0; place < axes->second.size(); ++place) {
      if (axes->second[place] == tile.vector) return std::nullopt;
      if (axes->second[place] == tile.rows) rows = place;
    }
  }
  return rows.value_or(block.axes.at(block.last).size() - 1);
}

Status write_row_block(Writer& writer, const RowBlock& block, const std::map<size_t, TileAxes>& tiles) {
  return RowBlockWriter(writer, block, tiles).write();
}

}  // namespace lathe
