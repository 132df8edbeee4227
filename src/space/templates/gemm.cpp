#include "space/templates/gemm.h"

#include <fmt/format.h>

#include <algorithm>

#include "expr/walk.h"
#include "intrinsics/intrinsic.h"
#include "space/rules/layouts.h"
#include "space/templates/blocked_layout.h"
#include "space/templates/knobs.h"

namespace lathe {
namespace {

constexpr int64_t kMostRows = 16;     // of a tile
constexpr int64_t kMostColumns = 64;  // of a tile
constexpr int64_t kMostTerms = 64;    // of the innermost part of the sum

struct GemmAxes {
  const Operand* left = nullptr;   // has the rows
  const Operand* right = nullptr;  // has the columns
  std::optional<size_t> rows = {};
  size_t columns = 0;
  size_t terms = 0;
  std::vector<size_t> others = {};  // spatial
};

// Of the axes that this operand has alone the last, if it is the whole index of a dimension.
std::optional<size_t> own_axis(const Compute& compute, const Operand& operand, const Operand& other) {
  for (size_t a = compute.spatial_count(); a-- > 0;) {
    if (operand.uses[a] && !other.uses[a])
      return operand.dim_of_axis[a] >= 0 ? std::optional(a) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<GemmAxes> gemm_axes_with(const Compute& compute, const Operand& left, const Operand& right) {
  const auto columns = own_axis(compute, right, left);
  const size_t terms = compute.axes.size() - 1;
  const bool has_terms =
      terms == compute.spatial_count() && left.dim_of_axis[terms] >= 0 && right.dim_of_axis[terms] >= 0;
  if (!columns || !has_terms) return std::nullopt;
  GemmAxes axes{&left, &right, own_axis(compute, left, right), *columns, terms};
  for (size_t a = 0; a < compute.spatial_count(); ++a) {
    if (a == axes.rows || a == axes.columns) continue;
    if (right.uses[a] && !left.uses[a]) return std::nullopt;
    axes.others.push_back(a);
  }
  return axes;
}

// Columns are those of what may be packed beforehand, else the results' last axis.
std::optional<GemmAxes> gemm_axes(const Compute& compute, const Stage& stage) {
  if (stage.role != Role::product || stage.operands.size() != 2) return std::nullopt;
  const Operand& first = stage.operands[0];
  const Operand& second = stage.operands[1];
  const auto forward = gemm_axes_with(compute, first, second);
  const auto backward = gemm_axes_with(compute, second, first);
  if (!forward || !backward) return forward ? forward : backward;
  const auto is_ready = [](const Operand& operand) { return operand.is_constant || operand.is_prepared; };
  if (is_ready(first) != is_ready(second)) return is_ready(second) ? forward : backward;
  return forward->columns > backward->columns ? forward : backward;
}

class GemmDecider {
 public:
  GemmDecider(Decider& decider, Chooser& chooser, const Stage& stage)
      : d_(decider),
        stage_(stage),
        compute_(decider.compute(stage)),
        name_(compute_.output->name),
        axes_(*gemm_axes(compute_, stage)),
        knobs_(chooser, name_) {}

  Tiling decide();

 private:
  struct Split {
    size_t axis = 0;
    std::vector<int64_t> factors;
  };
  std::string axis_name(size_t a) const { return compute_.axes[a].var.name(); }
  int64_t extent(size_t a) const { return compute_.axes[a].extent; }
  Split ask_split(size_t a, int64_t largest) {
    return {a, knobs_.split(axis_name(a), extent(a), {.parts = 3, .largest_innermost = largest})};
  }
  const Intrinsic* intrinsic_for_terms() const;
  OuterLoops loops_over_tiles(const std::optional<Split>& rows, const Split& columns);
  void decide_terms();
  void decide_tile(const std::optional<Split>& rows, const Split& columns);
  void check_intrinsic();
  Layout in_panels(const Operand& operand, size_t axis, int64_t tile) const;
  void place_left(const std::optional<Split>& rows);
  void place_right(const Split& columns);

  Decider& d_;
  const Stage& stage_;
  const Compute& compute_;
  const std::string& name_;
  const GemmAxes axes_;
  Knobs knobs_;
  const Intrinsic* intrinsic_ = nullptr;  // that the tile may be mapped to
  Tiling tiling_;
};

// Whether the operand is an argument that lies as the task says. What else lies where a template wants it.
bool is_given(const Decider& decider, const Operand& operand) {
  const auto argument = std::ranges::find(decider.task.arguments, operand.load->tensor, &Argument::tensor);
  return argument != decider.task.arguments.end() && !argument->is_constant && !argument->layout_is_free;
}

// The first that adds up terms of these elements as they are, where the columns' operand can be packed for
// it.
const Intrinsic* GemmDecider::intrinsic_for_terms() const {
  if (is_given(d_, *axes_.right)) return nullptr;
  for (const Intrinsic& intrinsic : intrinsics()) {
    const auto factors = match_factors(intrinsic, compute_.body);
    if (!factors || !has_intrinsic(d_.task.target, intrinsic)) continue;
    const auto is_stored_as = [](const Expr& factor, DType type) {
      return std::ranges::all_of(loads_of(factor),
                                 [&](const Load* load) { return load->tensor->dtype == type; });
    };
    const bool as_stored = is_stored_as(factors->a, intrinsic.a) && is_stored_as(factors->b, intrinsic.b);
    if (as_stored && extent(axes_.terms) % intrinsic.group == 0) return &intrinsic;
  }
  return nullptr;
}

// Blocks of tiles, and the tiles of a block: rows or columns first in either.
OuterLoops GemmDecider::loops_over_tiles(const std::optional<Split>& rows, const Split& columns) {
  OuterLoops loops;
  for (const size_t a : axes_.others) loops.emplace_back(axis_name(a), extent(a));
  const int64_t order = rows ? knobs_.order(4) : 0;
  const auto add = [&](const Split& split, size_t level) {
    const int64_t tiles = split.factors[0];
    loops.emplace_back(part_of(compute_.axes[split.axis], level),
                       level == 0 ? extent(split.axis) / (tiles * split.factors[1]) : tiles);
  };
  for (const size_t level : {0, 1}) {
    const bool columns_first = (order >> level) % 2 != 0;
    if (rows && !columns_first) add(*rows, level);
    add(columns, level);
    if (rows && columns_first) add(*rows, level);
  }
  return loops;
}

// The parts of the sum, and what an intrinsic adds up at once.
void GemmDecider::decide_terms() {
  const Axis& axis = compute_.axes[axes_.terms];
  const int64_t group = intrinsic_ != nullptr ? intrinsic_->group : 1;
  std::vector<int64_t> factors =
      knobs_.split(axis.var.name(), axis.extent / group, {.largest_innermost = kMostTerms});
  const int64_t terms = factors[0];
  tiling_.sums.push_back({part_of(axis, 0), axis.extent / (terms * group)});
  tiling_.sums.push_back(
      {part_of(axis, 1), terms, knobs_.annotate("terms", {LoopKind::serial, LoopKind::unrolled})});
  if (intrinsic_ != nullptr) factors.push_back(group);
  tiling_.splits.push_back({name_, axis.var.name(), std::move(factors)});
}

// The kind `tensorized` of the columns' loop: vectors, of which the intrinsic is given groups of terms.
void GemmDecider::decide_tile(const std::optional<Split>& rows, const Split& columns) {
  if (rows) {
    const LoopKind kind = knobs_.annotate("rows", {LoopKind::serial, LoopKind::unrolled});
    tiling_.tile.push_back(split_tile_loop(tiling_, compute_, rows->axis, rows->factors, kind, d_.lanes()));
  }
  std::vector<LoopKind> kinds = {LoopKind::serial, LoopKind::unrolled, LoopKind::vectorized};
  if (intrinsic_ != nullptr) kinds.push_back(LoopKind::tensorized);
  LoopKind kind = knobs_.annotate("columns", kinds);
  const bool is_tensorized = kind == LoopKind::tensorized;
  if (is_tensorized) kind = LoopKind::vectorized;
  tiling_.tile.push_back(split_tile_loop(tiling_, compute_, columns.axis, columns.factors, kind, d_.lanes()));
  if (intrinsic_ == nullptr) return;
  const std::string group = part_of(compute_.axes[axes_.terms], 2);
  if (!is_tensorized) {
    tiling_.sums.push_back({group, intrinsic_->group, LoopKind::unrolled});
    return;
  }
  tiling_.intrinsic = intrinsic_->name;
  tiling_.group_loop = group;
}

// The instruction's vectors have a width of their own.
void GemmDecider::check_intrinsic() {
  if (tiling_.intrinsic.empty() || d_.violation) return;
  const auto lanes = static_cast<int>(tiling_.tile.back().lanes);
  if (form_of(*intrinsic_, d_.task.target, lanes) != nullptr) return;
  d_.violation = fail(ErrorKind::illegal_schedule,
                      fmt::format("the target has no instruction for intrinsic '{}' in vectors of {} lanes, "
                                  "as tiles of {} columns of '{}' have",
                                  intrinsic_->name, lanes, tiling_.tile.back().extent, name_))
                     .error();
}

// Tiles of rows or columns, in each of them all terms one after another, the rows or columns of a term side
// by side, and innermost the terms of a group.
Layout GemmDecider::in_panels(const Operand& operand, size_t axis, int64_t tile) const {
  const auto tiled = static_cast<size_t>(operand.dim_of_axis[axis]);
  const auto terms = static_cast<size_t>(operand.dim_of_axis[axes_.terms]);
  const int64_t group = intrinsic_ != nullptr ? intrinsic_->group : 1;
  BlockedLayout layout(operand.load->tensor);
  for (size_t dim = 0; dim < operand.load->index.size(); ++dim) {
    if (dim != tiled && dim != terms) layout.add(dim);
  }
  layout.add_blocks(tiled, tile);
  layout.add_blocks(terms, group);
  layout.add_places(tiled, tile);
  layout.add_places(terms, group);
  return layout.layout();
}

// In panels, but what an earlier stage makes has its terms side by side, as that writes them. What is given
// is packed in every call or read where it lies, though an intrinsic's terms are to lie together.
void GemmDecider::place_left(const std::optional<Split>& rows) {
  const Operand& operand = *axes_.left;
  const Tensor& tensor = operand.load->tensor;
  const bool given = is_given(d_, operand);
  const bool packs = given ? rows && knobs_.choice("pack.rows") : !d_.is_intermediate(tensor);
  if (rows && packs)
    return place_operand(d_, operand, name_, in_panels(operand, rows->axis, rows->factors.back()));
  const Layout layout = with_last(tensor, static_cast<size_t>(operand.dim_of_axis[axes_.terms]));
  if (d_.is_open(tensor) || !tiling_.intrinsic.empty()) place_operand(d_, operand, name_, layout);
}

void GemmDecider::place_right(const Split& columns) {
  const Operand& operand = *axes_.right;
  if (is_given(d_, operand) && !knobs_.choice("pack.columns")) return;
  place_operand(d_, operand, name_, in_panels(operand, columns.axis, columns.factors.back()));
}

Tiling GemmDecider::decide() {
  tiling_.stage = stage_.compute;
  intrinsic_ = intrinsic_for_terms();
  std::optional<Split> rows;
  if (axes_.rows) rows = ask_split(*axes_.rows, kMostRows);
  const Split columns = ask_split(axes_.columns, kMostColumns);
  decide_terms();
  tiling_.tiles = loops_over_tiles(rows, columns);
  tiling_.shared = share_loops(d_, tiling_.tiles);
  decide_tile(rows, columns);
  tiling_.scope = scope_of_results(tiling_, d_.costs);
  if (const Status length = check_length_of(tiling_, name_); !length && !d_.violation)
    d_.violation = length.error();
  check_intrinsic();
  // Of a matrix times itself one copy serves both.
  if (axes_.left->load->tensor != axes_.right->load->tensor) place_left(rows);
  place_right(columns);
  tiling_.places = d_.take_places();
  return std::move(tiling_);
}

}  // namespace

bool fits_gemm(const Analysis& analysis, const Stage& stage) {
  return gemm_axes(analysis.compute(stage), stage).has_value();
}

Tiling decide_gemm(Decider& decider, Chooser& chooser, const Stage& stage) {
  return GemmDecider(decider, chooser, stage).decide();
}

}  // namespace lathe
