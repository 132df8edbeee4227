#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "expr/analysis.h"
#include "expr/walk.h"
#include "space/rules/rules.h"
#include "space/vector_part.h"

namespace lathe {

std::string Writer::name_of_pack(const Tensor& tensor, const std::string& block) const {
  const std::string name = tensor->name + ".pack";
  const bool taken = std::ranges::any_of(trace, [&](const Step& step) {
    const auto* copy = std::get_if<CacheReadStep>(&step);
    return copy != nullptr && copy->copy == name;
  });
  return taken ? fmt::format("{}.{}", name, block) : name;
}

bool Writer::is_intermediate(const Tensor& tensor) const {
  return dag.producer(tensor) != nullptr && !dag.is_output(tensor);
}

void Writer::set_layout(const Tensor& tensor, const Layout& layout) {
  if (layouts.contains(tensor->name)) return;
  const auto argument =
      std::ranges::find_if(task.arguments, [&](const Argument& a) { return a.tensor == tensor; });
  const bool free = argument != task.arguments.end() && argument->layout_is_free && !argument->is_constant;
  if (!free && !is_intermediate(tensor)) return;
  layouts.emplace(tensor->name, layout);
  if (layout == Layout::row_major(tensor->shape.size())) return;
  add(LayoutStep{tensor->name, layout});
}

Layout Writer::layout_of(const Tensor& tensor) const {
  const auto decided = layouts.find(tensor->name);
  if (decided != layouts.end()) return decided->second;
  for (const Argument& argument : task.arguments) {
    if (argument.tensor == tensor && !argument.layout.dims.empty()) return argument.layout;
  }
  return Layout::row_major(tensor->shape.size());
}

Layout with_last(const Tensor& tensor, size_t dim) {
  std::vector<int> dims;
  for (size_t d = 0; d < tensor->shape.size(); ++d) {
    if (d != dim) dims.push_back(static_cast<int>(d));
  }
  dims.push_back(static_cast<int>(dim));
  return Layout::permuted(dims);
}

Layout with_innermost(const Tensor& tensor, const std::vector<InnerDim>& inner) {
  Layout layout;
  for (size_t d = 0; d < tensor->shape.size(); ++d) {
    const int dim = static_cast<int>(d);
    const auto found = std::ranges::find(inner, dim, &InnerDim::dim);
    if (found == inner.end())
      layout.dims.push_back({dim, 1, 0, 0});
    else if (found->block > 1 && found->block < tensor->shape[d])
      layout.dims.push_back({dim, found->block, 0, 0});
  }
  for (const auto& [dim, block] : inner) {
    const bool split = block > 1 && block < tensor->shape[static_cast<size_t>(dim)];
    layout.dims.push_back({dim, 1, split ? block : 0, 0});
  }
  return layout;
}

namespace {

// The tensor's dimensions in their order, but the part of this one that vectors run along last.
Layout with_part_last(const Tensor& tensor, size_t dim, const IndexPart& part, int64_t block) {
  if (part.kind == AtomKind::variable ||
      (part.kind == AtomKind::modulo && block != 0 && part.divisor % block == 0))
    return with_innermost(tensor, {{static_cast<int>(dim), block}});
  Layout layout = with_last(tensor, dim);
  if (part.kind != AtomKind::floor_div) return layout;
  layout.dims.back() = {static_cast<int>(dim), 1, part.divisor, 0};
  layout.dims.push_back({static_cast<int>(dim), part.divisor, 0, 0});
  return layout;
}

}  // namespace

Layout with_rows_in_blocks(Layout layout, size_t row_dim) {
  const auto block = std::ranges::find_if(layout.dims, [](const LayoutDim& dim) { return dim.divide > 1; });
  const auto row = std::ranges::find(layout.dims, static_cast<int>(row_dim), &LayoutDim::dim);
  const bool is_of_blocks = block != layout.dims.end() && block + 1 != layout.dims.end();
  if (is_of_blocks && row < block) std::rotate(row, block, block + 1);
  return layout;
}

void write_vector_layouts(Writer& writer, const Stage& stage, size_t axis, int64_t block,
                          std::optional<size_t> rows) {
  const Tensor& output = writer.compute(stage).output;
  if (!stage.epilogue) {
    const Layout layout = with_innermost(output, {{static_cast<int>(axis), block}});
    writer.set_layout(output, rows ? with_rows_in_blocks(layout, *rows) : layout);
    return;
  }
  const Compute& epilogue = writer.dag.computes[*stage.epilogue];
  std::optional<IndexPart> part;
  std::optional<IndexPart> row_part;
  for (const Load* load : loads_of(epilogue.body)) {
    if (load->tensor != output) continue;
    part = index_part(load->index[axis]);
    if (rows) row_part = index_part(load->index[*rows]);
  }
  if (!part) return;
  const auto set_layout = [&](const Tensor& tensor, size_t dim, std::span<const Affine> index) {
    Layout layout = with_part_last(tensor, dim, *part, block);
    for (size_t d = 0; row_part && d < index.size(); ++d) {
      if (index[d].uses(row_part->axis)) layout = with_rows_in_blocks(std::move(layout), d);
    }
    writer.set_layout(tensor, layout);
  };
  std::vector<Affine> places;
  for (size_t a = 0; a < epilogue.spatial_count(); ++a) places.emplace_back(epilogue.axes[a].var);
  for (size_t a = 0; a < places.size(); ++a) {
    if (epilogue.axes[a].var == part->axis) set_layout(epilogue.output, a, places);
  }
  for (const Load* load : loads_of(epilogue.body)) {
    for (size_t d = 0; d < load->index.size(); ++d) {
      if (load->tensor != output && load->index[d] == Affine(part->axis))
        set_layout(load->tensor, d, load->index);
    }
  }
}

VectorTile vector_tile(int64_t extent, int64_t most_lanes, int64_t wanted) {
  VectorTile tile;
  tile.lanes = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(std::min(most_lanes, extent))));
  tile.vectors = std::min(extent / tile.lanes, wanted);
  while (extent % tile.lanes == 0 && extent % tile.size() != 0) --tile.vectors;
  return tile;
}

int64_t preferred_vectors(int64_t extent, int64_t most_lanes) {
  // What a loop costs beside the vectors in it.
  constexpr int64_t kLoop = 2;
  int64_t best = 1;
  const auto cost = [&](int64_t wanted) {
    const VectorTile tile = vector_tile(extent, most_lanes, wanted);
    return ceil_div(extent, tile.size()) * (tile.vectors + kLoop);
  };
  for (const int64_t wanted : {2, 4}) {
    if (extent >= 2 && cost(wanted) < cost(best)) best = wanted;
  }
  return best;
}

std::vector<int64_t> vector_counts(const Writer& writer, const Compute& compute) {
  int64_t most = 1;
  for (size_t i = 0; i < compute.spatial_count(); ++i)
    most = std::max(most, ceil_div(compute.axes[i].extent, writer.lanes()));
  return powers_of_two(std::min<int64_t>(8, most));
}

std::vector<int64_t> powers_of_two(int64_t limit) {
  std::vector<int64_t> values = {1};
  while (values.back() * 2 <= limit) values.push_back(values.back() * 2);
  return values;
}

std::vector<std::string> names_of(const std::vector<std::pair<std::string, int64_t>>& loops) {
  std::vector<std::string> names;
  for (const auto& [name, extent] : loops) names.push_back(name);
  return names;
}

std::vector<std::string> write_parallel(Writer& writer, const std::string& block,
                                        const std::vector<std::pair<std::string, int64_t>>& loops) {
  std::vector<std::string> names = names_of(loops);
  if (writer.cpu().cores <= 1 || loops.empty()) return names;
  // Eight pieces a core balance the tails well enough.
  const int64_t wanted = int64_t{8} * writer.cpu().cores;
  size_t count = 0;
  int64_t pieces = 1;
  while (count < loops.size() && pieces < wanted) pieces *= loops[count++].second;
  if (pieces < 2) return names;
  std::string fused = names[0];
  if (count > 1) {
    writer.add(FuseStep{block, {names.begin(), names.begin() + static_cast<std::ptrdiff_t>(count)}});
    for (size_t i = 1; i < count; ++i) fused += "_" + names[i];
  }
  writer.add(AnnotateStep{block, fused, LoopKind::parallel});
  names.erase(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(count));
  names.insert(names.begin(), fused);
  return names;
}

namespace {

// Cycles of one core for a vector of points, at one operation or load a cycle; those that may be computed in
// many steps take some thirty.
double cycles_of_vector(const Compute& compute) {
  constexpr double kManySteps = 30;
  double cycles = 0;
  for_each(compute.body, [&](const Expr& e) {
    const Unary* unary = e.as<Unary>();
    const Binary* binary = e.as<Binary>();
    const bool is_long = (unary != nullptr && unary->op != UnaryOp::negate && unary->op != UnaryOp::abs) ||
                         (binary != nullptr && (binary->op == BinaryOp::div || binary->op == BinaryOp::mod ||
                                                binary->op == BinaryOp::pow));
    cycles += is_long ? kManySteps : 1;
  });
  return cycles;
}

// Whether one core is done before others have been told of the work, which takes two tenths of a microsecond.
bool is_done_alone(const Writer& writer, const Compute& compute) {
  constexpr double kCyclesWorthSharing = 2000;
  return points_of(compute) / writer.lanes() * cycles_of_vector(compute) < kCyclesWorthSharing;
}

}  // namespace

std::vector<std::string> write_parallel_if_long(Writer& writer, const Compute& compute,
                                                const std::string& block,
                                                const std::vector<std::pair<std::string, int64_t>>& loops) {
  return is_done_alone(writer, compute) ? names_of(loops) : write_parallel(writer, block, loops);
}

}  // namespace lathe
