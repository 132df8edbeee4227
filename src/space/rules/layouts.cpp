#include "space/rules/layouts.h"

#include <algorithm>
#include <span>

#include "analysis/vector_part.h"
#include "expr/walk.h"

namespace lathe {

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

void decide_vector_layouts(Decider& decider, const Stage& stage, size_t axis, int64_t block,
                           std::optional<size_t> rows) {
  const Tensor& output = decider.compute(stage).output;
  if (!stage.epilogue) {
    const Layout layout = with_innermost(output, {{static_cast<int>(axis), block}});
    decider.set_layout(output, rows ? with_rows_in_blocks(layout, *rows) : layout);
    return;
  }
  const Compute& epilogue = decider.dag.computes[*stage.epilogue];
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
    decider.set_layout(tensor, layout);
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

}  // namespace lathe
