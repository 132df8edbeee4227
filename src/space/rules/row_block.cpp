#include "space/rules/row_block.h"

#include <algorithm>
#include <string>

#include "base/overloaded.h"
#include "space/rules/layouts.h"
#include "space/rules/parallel.h"

namespace lathe {
namespace {

bool is_common(const RowBlock& block, size_t stage, size_t axis) {
  const std::vector<size_t>& common = block.axes.at(stage);
  return std::ranges::find(common, axis) != common.end();
}

// Sums of so many rows hide each other's latency.
constexpr int64_t kSumsTogether = 4;

class RowBlockDecider {
 public:
  RowBlockDecider(Decider& decider, const RowBlock& block, const std::map<size_t, TileAxes>& tiles)
      : d_(decider),
        block_(block),
        tiles_(tiles),
        rows_(*rows_of_block(block, tiles)),
        extent_(compute(block.last).axes[block.axes.at(block.last)[rows_]].extent) {}

  RowBlockDecision decide();

 private:
  const Compute& compute(size_t stage) const { return d_.dag.computes[stage]; }
  const std::string& name(size_t stage) const { return compute(stage).output->name; }
  std::optional<size_t> vector_axis(size_t stage) const;
  bool runs_in_lanes(size_t stage) const;
  bool is_taken_by_product(size_t stage) const;
  bool has_product() const;
  int64_t choose_size();
  RowVectors decide_vectors(size_t stage);
  RowSums decide_sums(size_t stage);
  ProductDecision decide_product_of_rows(size_t stage, const TileAxes& tile);
  RowMember decide_member(size_t stage);

  Decider& d_;
  const RowBlock& block_;
  const std::map<size_t, TileAxes>& tiles_;
  size_t rows_;
  int64_t extent_;
  int64_t size_ = 1;
};

// The last axis inside a row, if it has some length.
std::optional<size_t> RowBlockDecider::vector_axis(size_t stage) const {
  for (size_t axis = compute(stage).spatial_count(); axis-- > 0;) {
    if (is_common(block_, stage, axis)) continue;
    return compute(stage).axes[axis].extent < 2 ? std::nullopt : std::optional(axis);
  }
  return std::nullopt;
}

bool RowBlockDecider::runs_in_lanes(size_t stage) const {
  return d_.stages.of(stage).role == Role::reduction && compute(stage).axes.back().extent >= 2 * d_.lanes();
}

// A product takes its element-wise consumer along.
bool RowBlockDecider::is_taken_by_product(size_t stage) const {
  return std::ranges::any_of(block_.members, [&](size_t member) {
    return tiles_.contains(member) && d_.stages.of(member).epilogue == stage;
  });
}

// As many rows as a part of the second-level cache holds: the other operands of a product pass it, too. Where
// there is no product nothing else passes, and rows that the first-level cache holds are read from there by
// all stages; but sums of a few rows side by side wait less for each other. Of rows so long that the cache
// does not hold the smallest part of them there are fewer.
int64_t RowBlockDecider::choose_size() {
  const CpuTarget& target = d_.task.target.cpu();
  const auto cache = static_cast<double>(target.l2.bytes);
  const int64_t row = bytes_of_row(d_.dag, block_);
  const auto rows_in = [&](double bytes) { return static_cast<int64_t>(bytes) / row; };
  int64_t most = rows_in(d_.costs.block_rows_share * cache);
  if (!has_product()) {
    const int64_t near = rows_in(d_.costs.near_block_share * static_cast<double>(target.l1.bytes));
    most = std::min(most, std::max(near, kSumsTogether));
  }
  std::vector<int64_t> values = sizes_of_parts(extent_);
  while (values.front() > 1 && (values.front() > rows_in(d_.costs.cache_share * cache) ||
                                (!has_product() && values.front() > std::max(most, kSumsTogether))))
    values.insert(values.begin(), ceil_div(values.front(), 2));
  int64_t preferred = values.front();
  for (const int64_t value : values) {
    if (value <= most && (extent_ % value == 0 || extent_ % preferred != 0)) preferred = value;
  }
  return d_.choose.choose(name(block_.last) + ".rows", values, preferred);
}

bool RowBlockDecider::has_product() const {
  return std::ranges::any_of(block_.members, [&](size_t member) { return tiles_.contains(member); });
}

RowVectors RowBlockDecider::decide_vectors(size_t stage) {
  RowVectors vectors{.stage = stage, .axis = vector_axis(stage)};
  if (!vectors.axis) return vectors;
  const int64_t extent = compute(stage).axes[*vectors.axis].extent;
  d_.set_layout(compute(stage).output, with_last(compute(stage).output, *vectors.axis));
  vectors.places = d_.take_places();
  const int64_t most = ceil_div(extent, d_.lanes());
  const int64_t wanted =
      d_.choose.choose(name(stage) + ".vectors", powers_of_two(std::min<int64_t>(8, most)), 2);
  vectors.tile = vector_tile(extent, d_.lanes(), wanted);
  return vectors;
}

RowSums RowBlockDecider::decide_sums(size_t stage) {
  RowSums sums{.stage = stage};
  sums.together = d_.choose.choose(name(stage) + ".together", powers_of_two(std::min<int64_t>(8, extent_)),
                                   kSumsTogether);
  while (size_ % sums.together != 0) sums.together /= 2;
  return sums;
}

ProductDecision RowBlockDecider::decide_product_of_rows(size_t stage, const TileAxes& tile) {
  GroupedLoops group{block_.axes.at(stage)[rows_], size_, extent_ % size_ != 0};
  for (size_t place = 0; place < block_.axes.at(stage).size(); ++place) {
    if (place != rows_) group.single.push_back(block_.axes.at(stage)[place]);
  }
  return decide_product(d_, d_.stages.of(stage), tile, group);
}

RowMember RowBlockDecider::decide_member(size_t stage) {
  const auto tile = tiles_.find(stage);
  if (tile != tiles_.end()) return decide_product_of_rows(stage, tile->second);
  if (is_taken_by_product(stage)) return RowPlain{stage};
  if (runs_in_lanes(stage)) return decide_sums(stage);
  if (d_.stages.of(stage).role == Role::pointwise) return decide_vectors(stage);
  return RowPlain{stage};
}

RowBlockDecision RowBlockDecider::decide() {
  RowBlockDecision decision{.block = block_, .rows = rows_};
  size_ = decision.size = choose_size();
  decision.last = decide_vectors(block_.last);
  for (size_t i = block_.members.size(); i-- > 0;)
    decision.members.push_back(decide_member(block_.members[i]));
  return decision;
}

class RowBlockWriter {
 public:
  RowBlockWriter(Writer& writer, const RowBlockDecision& decision)
      : w_(writer), decision_(decision), block_(decision.block) {}

  void write();

 private:
  const Compute& compute(size_t stage) const { return w_.dag.computes[stage]; }
  const std::string& name(size_t stage) const { return compute(stage).output->name; }
  std::string axis_name(size_t stage, size_t axis) const { return compute(stage).axes[axis].var.name(); }
  std::string rows_name(size_t stage) const {
    return axis_name(stage, block_.axes.at(stage)[decision_.rows]);
  }
  std::vector<std::string> common_loops(size_t stage) const;
  void write_vectors(const RowVectors& vectors, const std::vector<std::string>& outer);
  std::string write_last();
  void write_partial_results(size_t stage);
  void move_into_rows(const RowMember& member, const std::string& loop);
  void write_sums(const RowSums& sums);

  Writer& w_;
  const RowBlockDecision& decision_;
  const RowBlock& block_;
};

size_t stage_of(const RowMember& member) {
  return std::visit([](const auto& decision) { return decision.stage; }, member);
}

// The innermost axis of an element-wise stage in vectors, below the loops `outer`.
void RowBlockWriter::write_vectors(const RowVectors& vectors, const std::vector<std::string>& outer) {
  write_places(w_, vectors.places);
  if (!vectors.axis) return;
  const size_t stage = vectors.stage;
  const std::string loop = axis_name(stage, *vectors.axis);
  ReorderStep order{name(stage), outer};
  for (size_t a = 0; a < compute(stage).spatial_count(); ++a) {
    if (!is_common(block_, stage, a) && a != *vectors.axis) order.loops.push_back(axis_name(stage, a));
  }
  order.loops.push_back(loop);
  w_.add(order);
  w_.add(SplitStep{name(stage), loop, {vectors.tile.vectors, vectors.tile.lanes}});
  w_.add(AnnotateStep{name(stage), loop + ".1", LoopKind::unrolled});
  w_.add(AnnotateStep{name(stage), loop + ".2", LoopKind::vectorized});
  w_.add(TailStep{name(stage), loop, Tail::overlap});
}

// The loops over the common axes, with the rows in blocks; gives the one in which everything else runs.
std::string RowBlockWriter::write_last() {
  const std::string rows = rows_name(block_.last);
  OuterLoops outer;
  for (size_t place = 0; place < block_.axes.at(block_.last).size(); ++place) {
    const size_t axis = block_.axes.at(block_.last)[place];
    if (place != decision_.rows)
      outer.emplace_back(axis_name(block_.last, axis), compute(block_.last).axes[axis].extent);
  }
  const size_t cut = block_.axes.at(block_.last)[decision_.rows];
  w_.add(SplitStep{name(block_.last), rows, {decision_.size}});
  outer.emplace_back(rows + ".0", ceil_div(compute(block_.last).axes[cut].extent, decision_.size));
  std::vector<std::string> loops = names_of(outer);
  loops.push_back(rows + ".1");
  write_vectors(decision_.last, loops);
  const SharedLoops shared = share_loops(w_, outer);
  write_shared(w_, name(block_.last), shared);
  return shared.names.back();
}

// The lanes' partial results become a stage of their own while the reduction stands alone.
void RowBlockWriter::write_partial_results(size_t stage) {
  const std::string last = compute(stage).axes.back().var.name();
  w_.add(SplitStep{name(stage), last, {w_.lanes()}});
  w_.add(RfactorStep{name(stage), last + ".1"});
}

void RowBlockWriter::move_into_rows(const RowMember& member, const std::string& loop) {
  const auto move = [&](const std::string& block) {
    w_.add(ComputeAtStep{block, name(block_.last), loop, Scope::thread});
  };
  const std::string& block = name(stage_of(member));
  move(block);
  if (std::holds_alternative<RowSums>(member)) move(block + ".rf");
}

// Several rows side by side: the additions of one wait for each other.
void RowBlockWriter::write_sums(const RowSums& sums) {
  const size_t stage = sums.stage;
  const std::string block = name(stage) + ".rf";
  const std::string rows = rows_name(stage);
  const std::string last = compute(stage).axes.back().var.name();
  w_.add(SplitStep{block, rows, {sums.together}});
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

std::vector<std::string> RowBlockWriter::common_loops(size_t stage) const {
  std::vector<std::string> loops;
  for (const size_t axis : block_.axes.at(stage)) loops.push_back(axis_name(stage, axis));
  return loops;
}

void RowBlockWriter::write() {
  const std::string loop = write_last();
  for (size_t i = decision_.members.size(); i-- > 0;) {
    if (const auto* sums = std::get_if<RowSums>(&decision_.members[i])) write_partial_results(sums->stage);
  }
  for (const RowMember& member : decision_.members) move_into_rows(member, loop);
  const auto write_member =
      Overloaded{[&](const RowVectors& vectors) { write_vectors(vectors, common_loops(vectors.stage)); },
                 [&](const RowSums& sums) { write_sums(sums); },
                 [&](const ProductDecision& product) { write_product(w_, product); }, [](const RowPlain&) {}};
  for (const RowMember& member : decision_.members) std::visit(write_member, member);
}

}  // namespace

std::optional<size_t> rows_of_block(const RowBlock& block, const std::map<size_t, TileAxes>& tiles) {
  std::optional<size_t> rows;
  for (const auto& [product, tile] : tiles) {
    const auto axes = block.axes.find(product);
    if (axes == block.axes.end()) continue;
    for (size_t place = 0; place < axes->second.size(); ++place) {
      if (axes->second[place] == tile.vector) return std::nullopt;
      if (axes->second[place] != tile.rows) continue;
      if (rows && *rows != place) return std::nullopt;
      rows = place;
    }
  }
  return rows.value_or(block.axes.at(block.last).size() - 1);
}

RowBlockDecision decide_row_block(Decider& decider, const RowBlock& block,
                                  const std::map<size_t, TileAxes>& tiles) {
  return RowBlockDecider(decider, block, tiles).decide();
}

void write_row_block(Writer& writer, const RowBlockDecision& decision) {
  RowBlockWriter(writer, decision).write();
}

}  // namespace lathe
