#include "space/flextensor/node_nest.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "expr/walk.h"
#include "space/rules/vectors.h"

namespace lathe {

namespace {

constexpr size_t kTileLevel = 3;

// The letter is that of spatial or reduce loops, the number their level.
constexpr std::string_view kLevels[kLevelOrders] = {
    "S0 S1 S2 R0 R1 R2 S3",
    "S0 S1 R0 S2 R1 R2 S3",
    "S0 R0 S1 R1 S2 R2 S3",
};

// Whether the places of a vector's lanes are a step apart wherever the variable is used: a division is the
// same for all of them, and none is chosen at run time.
bool is_stepped(const Affine& index, const Var& var, int64_t lanes) {
  return std::ranges::all_of(index.terms(), [&](const Affine::Term& term) {
    const AtomNode& atom = *term.atom;
    if (atom.kind == AtomKind::variable || !Affine(term.atom).uses(var)) return true;
    return atom.kind != AtomKind::opaque && atom.operand == Affine(var) && atom.divisor % lanes == 0;
  });
}

bool can_be_vectors(const Compute& compute, const Var& var, int64_t lanes) {
  bool stepped = true;
  for_each(compute.body, [&](const Expr& e) {
    if (const Load* load = e.as<Load>()) {
      stepped &= std::ranges::all_of(load->index,
                                     [&](const Affine& index) { return is_stepped(index, var, lanes); });
    }
    if (const Index* index = e.as<Index>()) stepped &= is_stepped(index->value, var, lanes);
  });
  return stepped;
}

class NestBuilder {
 public:
  NestBuilder(const Compute& compute, const NodeConfig& config, int64_t lanes)
      : compute_(compute), config_(config), nest_{.block = compute.output->name} {
    const int64_t extent = config.innermost ? config.parts[*config.innermost].back() : 1;
    nest_.lanes = largest_divisor(extent, lanes);
    if (nest_.lanes > 1) nest_.vector_axis = config.innermost;
  }

  NodeNest build() {
    for (size_t axis = 0; axis < compute_.axes.size(); ++axis) add_parts(axis);
    place_loops();
    fuse();
    unroll();
    return std::move(nest_);
  }

 private:
  struct Part {
    NestLoop loop;
    size_t level = 0;
  };

  bool reduces(size_t axis) const { return compute_.axes[axis].kind == AxisKind::reduce; }

  // The parts of more than one iteration as loops.
  void add_parts(size_t axis) {
    std::vector<int64_t> extents = config_.parts[axis];
    const size_t last = extents.size() - 1;
    const auto level_of = [&](size_t part) {
      if (reduces(axis) || last == kTileLevel) return part;
      return part == 0 ? 0 : kTileLevel;
    };
    std::vector<Part> parts;
    const auto add = [&](int64_t extent, size_t level) {
      const bool is_in_tile = !reduces(axis) && level == kTileLevel;
      if (extent > 1) parts.push_back({{{}, axis, extent, reduces(axis), is_in_tile}, level});
    };
    for (size_t part = 0; part < last; ++part) add(extents[part], level_of(part));
    const bool is_vector = nest_.vector_axis == axis;
    add(is_vector ? extents[last] / nest_.lanes : extents[last], level_of(last));
    if (is_vector) add(nest_.lanes, level_of(last));
    name_parts(axis, parts);
  }

  void name_parts(size_t axis, std::vector<Part>& parts) {
    const std::string name = compute_.axes[axis].var.name();
    SplitStep split{nest_.block, name, {}};
    for (size_t i = 0; i < parts.size(); ++i) {
      parts[i].loop.name = parts.size() == 1 ? name : name + "." + std::to_string(i);
      if (i > 0) split.factors.push_back(parts[i].loop.extent);
    }
    if (!split.factors.empty()) nest_.splits.push_back(std::move(split));
    std::ranges::move(parts, std::back_inserter(parts_));
  }

  // Loops of one iteration that axes have: out of the way of those that are fused, and of the reduce loops
  // inside of the tile's loop.
  std::vector<NestLoop> single_loops(AxisKind kind) const {
    std::vector<NestLoop> loops;
    for (size_t axis = 0; axis < compute_.axes.size(); ++axis) {
      const Axis& single = compute_.axes[axis];
      if (single.kind == kind && single.extent == 1)
        loops.push_back({single.var.name(), axis, 1, kind == AxisKind::reduce});
    }
    return loops;
  }

  void append_level(bool reduces, size_t level, std::vector<NestLoop>& loops) const {
    std::vector<size_t> axes = reduces ? loops_of(compute_, AxisKind::reduce) : config_.order;
    if (!reduces && level == kTileLevel && config_.innermost) {
      std::erase(axes, *config_.innermost);
      axes.push_back(*config_.innermost);
    }
    for (const size_t axis : axes) {
      for (const Part& part : parts_) {
        if (part.loop.axis == axis && part.level == level) loops.push_back(part.loop);
      }
    }
  }

  void place_loops() {
    nest_.outer = single_loops(AxisKind::spatial);
    nest_.first_fused = nest_.outer.size();
    std::vector<NestLoop> loops;
    const std::string_view levels = kLevels[config_.levels];
    for (size_t i = 0; i < levels.size(); i += 3)
      append_level(levels[i] == 'R', static_cast<size_t>(levels[i + 1] - '0'), loops);
    const auto is_around_tile = [](const NestLoop& loop) { return !loop.reduces && !loop.is_in_tile; };
    const auto end = std::find_if(loops.rbegin(), loops.rend(), is_around_tile).base();
    nest_.outer.insert(nest_.outer.end(), loops.begin(), end);
    nest_.inner = single_loops(AxisKind::reduce);
    nest_.inner.insert(nest_.inner.end(), end, loops.end());
    if (nest_.vector_axis) nest_.inner.back().kind = LoopKind::vectorized;
  }

  void fuse() {
    const auto wanted = static_cast<size_t>(config_.fused);
    const auto is_shared = [&](size_t loop) {
      return loop < nest_.outer.size() && !nest_.outer[loop].reduces;
    };
    while (nest_.fused < wanted && is_shared(nest_.first_fused + nest_.fused)) ++nest_.fused;
  }

  // From the innermost loop outwards. Vectors that are none become a statement for each lane.
  void unroll() {
    if (nest_.vector_axis && !can_be_vectors(compute_, compute_.axes[*nest_.vector_axis].var, nest_.lanes))
      nest_.statements = nest_.lanes;
    for (size_t i = nest_.inner.size(); i-- > 0;) {
      NestLoop& loop = nest_.inner[i];
      if (loop.kind == LoopKind::vectorized || loop.extent == 1) continue;
      const int64_t statements = nest_.statements * loop.extent;
      if (config_.unroll == 1 ? !loop.is_in_tile : statements > config_.unroll) break;
      loop.kind = LoopKind::unrolled;
      nest_.statements = statements;
    }
  }

  const Compute& compute_;
  const NodeConfig& config_;
  NodeNest nest_;
  std::vector<Part> parts_;
};

}  // namespace

NodeNest nest_of(const Compute& compute, const NodeConfig& config, int64_t lanes) {
  return NestBuilder(compute, config, lanes).build();
}

std::vector<std::string> NodeNest::outer_names() const {
  std::vector<std::string> names;
  for (size_t i = 0; i < outer.size(); ++i) {
    if (i > first_fused && i < first_fused + fused) {
      names.back() += "_" + outer[i].name;
    } else {
      names.push_back(outer[i].name);
    }
  }
  return names;
}

std::optional<size_t> NodeNest::parallel_loop() const {
  return fused == 0 ? std::nullopt : std::optional(first_fused);
}

std::optional<size_t> NodeNest::tile_loop() const {
  const size_t merged = fused == 0 ? 0 : fused - 1;
  return outer.empty() ? std::nullopt : std::optional(outer.size() - merged - 1);
}

std::optional<size_t> NodeNest::whole_sum_loop() const {
  const auto reduce = std::ranges::find_if(outer, &NestLoop::reduces);
  if (reduce == outer.end()) return tile_loop();
  const auto around = static_cast<size_t>(reduce - outer.begin());
  const size_t merged = fused == 0 ? 0 : fused - 1;
  return around == 0 ? std::nullopt : std::optional(around - merged - 1);
}

bool NodeNest::has_whole_tile() const {
  return std::ranges::none_of(
      inner, [](const NestLoop& loop) { return loop.is_in_tile && loop.kind == LoopKind::serial; });
}

int64_t NodeNest::vectors_of_tile() const {
  int64_t vectors = 1;
  for (const NestLoop& loop : inner) {
    if (loop.is_in_tile && loop.kind != LoopKind::vectorized) vectors *= loop.extent;
  }
  return vectors;
}

int64_t NodeNest::innermost_extent(size_t axis) const {
  int64_t extent = 1;
  for (const NestLoop& loop : outer) extent = loop.axis == axis ? loop.extent : extent;
  for (const NestLoop& loop : inner) extent = loop.axis == axis ? loop.extent : extent;
  return extent;
}

int64_t NodeNest::extent_inside(size_t outer_loop, size_t axis) const {
  const size_t merged = fused == 0 || outer_loop < first_fused ? 0 : fused - 1;
  int64_t extent = 1;
  for (size_t i = outer_loop + merged + 1; i < outer.size(); ++i)
    extent *= outer[i].axis == axis ? outer[i].extent : 1;
  for (const NestLoop& loop : inner) extent *= loop.axis == axis ? loop.extent : 1;
  return extent;
}

}  // namespace lathe
