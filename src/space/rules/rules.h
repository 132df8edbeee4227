// The rules that write a sketch's trace, one a file. Each takes a stage of the Dag (already freed of inlined
// computes), asks the chooser for what is open and appends its steps. Rules speak of loops and operands only;
// none knows an operator's name. Stages are written from the outputs to the inputs, so that a consumer
// decides the layout in which it wants its operands before their producers are written.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "schedule/trace.h"
#include "space/chain.h"
#include "space/chooser.h"
#include "space/classify.h"
#include "space/row_block.h"

namespace lathe {

// What a product is built around: the axis that fills vectors, which may be the last of the reduction, and
// the axis that fills rows of the register tile.
struct TileAxes {
  size_t vector = 0;
  std::optional<size_t> rows;

  bool runs_along_reduction(const Compute& compute) const { return vector >= compute.spatial_count(); }
};

// The loop of a product in which each iteration takes one block of rows through all that is reduced.
struct RowLoop {
  std::string loop;
  bool reads_beyond = false;  // rows beyond the last, for which only what the program itself makes has room
};

// A sketch in the making.
struct Writer {
  const Task& task;
  const Dag& dag;  // after rewrites and inlining
  const Classified& stages;
  Chooser& choose;
  Trace trace;
  std::map<std::string, Layout> layouts;  // of tensors whose layout a rule has decided
  // Of products that stand alone, and of stages that choose what they read at run time: what they read may be
  // made there.
  std::map<std::string, RowLoop> row_blocks;
  // Why the answers do not go together. Writing goes on, since a declaring run must meet every choice.
  std::optional<Error> violation;

  const Compute& compute(const Stage& stage) const { return dag.computes[stage.compute]; }
  const CpuTarget& cpu() const { return task.target.cpu(); }
  int lanes() const { return stages.lanes; }
  template <class Step>
  void add(Step step) {
    trace.emplace_back(std::move(step));
  }
  // Decides a tensor's layout where it may be decided: an intermediate, or an argument whose layout is free.
  void set_layout(const Tensor& tensor, const Layout& layout);
  // The layout of a tensor as decided so far.
  Layout layout_of(const Tensor& tensor) const;
  bool is_intermediate(const Tensor& tensor) const;
  // A name for this block's copy of the tensor: blocks that read the same tensor pack it each for itself.
  std::string name_of_pack(const Tensor& tensor, const std::string& block) const;
};

// The tensor's dimensions in their order, but this one last.
Layout with_last(const Tensor& tensor, size_t dim);
// A dimension that is to lie innermost: whole, or in blocks of this size (0: none), of which the places in a
// block do.
struct InnerDim {
  int dim = 0;
  int64_t block = 0;
};
// The tensor's dimensions in their order, but these last, the innermost one at the end. A block that would be
// the only one is none.
Layout with_innermost(const Tensor& tensor, const std::vector<InnerDim>& inner);
// Where the dimension that lies in blocks comes after this one: not the blocks of a row together, but the
// rows of a block.
Layout with_rows_in_blocks(Layout layout, size_t row_dim);
// Where a stage's results are written along this axis in vectors, it is innermost in its output, or in what
// its epilogue writes and reads beside it; in blocks, where their size is not 0, with the places of the axis
// `rows` together in each.
void write_vector_layouts(Writer& writer, const Stage& stage, size_t axis, int64_t block = 0,
                          std::optional<size_t> rows = {});

// Where a product stands that is computed for a group of places of one of its axes.
struct GroupedLoops {
  std::optional<size_t> axis;  // none: the product stands alone
  int64_t size = 1;            // the axis' extent inside the group
  bool imperfect = false;      // the last group is smaller
  std::vector<size_t> single;  // axes of which it has one place
};
// Multi-level tiling around a register tile, packed operands, accumulators in registers, the element-wise
// consumer fused (Ansor's rules 4 to 6 with operand packing).
Status write_product(Writer& writer, const Stage& stage, const TileAxes& tile,
                     const GroupedLoops& group = {});
// The axes that a product can be tiled around, most promising first. The second, or the only one, may have
// vectors along the reduction: for a long sum with fewer results than additions that the units have under
// way.
std::vector<TileAxes> tile_candidates(const Task& task, const Compute& compute, const Stage& stage);
// The last reduce axis, if any, whose window slides by single steps along the rows of an operand's vectors.
std::optional<size_t> window_over_vectors(const Compute& compute, const Operand& operand, size_t vector,
                                          size_t rows);

// Where a chain stands that is computed for a group of places of one axis of its last stage.
struct ChainPlace {
  std::optional<size_t> group_axis;  // outermost then; none: the chain stands alone
};
// A chain of transforms: one vector at a time through all of them, tables unrolled.
Status write_chain(Writer& writer, const Chain& chain, const ChainPlace& place = {});
// A product with the chains around it, for groups of their common axis.
Status write_group(Writer& writer, const Group& group, const TileAxes& tile);

enum class Place : uint8_t { whole, at_block, inside };
struct Placement {
  Place place = Place::whole;
  std::string consumer;  // block and loop, for those that are not whole
  std::string loop;
};
// Where a stage is made that a product alone reads.
Placement choose_placement(Writer& writer, const Compute& compute);

// The place among the block's common axes of the one that is cut: the rows of a product's tile, where there
// is one among the stages. Nothing where such a product's vectors would run along a common axis.
std::optional<size_t> rows_of_block(const RowBlock& block, const std::map<size_t, TileAxes>& tiles);
// The stages of a block, for some rows at a time. `rows_of_block` must have found its rows.
Status write_row_block(Writer& writer, const RowBlock& block, const std::map<size_t, TileAxes>& tiles);

// A stage without a reduction: loops in the order of memory, the innermost in vectors, the outer ones
// parallel.
Status write_pointwise(Writer& writer, const Stage& stage);
// A reduction without reuse: vectors along a spatial axis where memory allows, else partial results side by
// side (rfactor), accumulators in registers.
Status write_reduction(Writer& writer, const Stage& stage);
// A product whose vectors run along the reduction: a block of results at a time, each from partial sums in
// the lanes (rfactor), and of the parts of a long sum.
Status write_sum_in_lanes(Writer& writer, const Stage& stage);

// The names of loops that come with their extents.
std::vector<std::string> names_of(const std::vector<std::pair<std::string, int64_t>>& loops);
// Fuses leading loops of a block until there is work for every core, and makes the result parallel. `loops`
// are its outer loops with extents, outermost first; gives their names afterwards.
std::vector<std::string> write_parallel(Writer& writer, const std::string& block,
                                        const std::vector<std::pair<std::string, int64_t>>& loops);
// The same for a block of a stage all of whose work is in vectors, but where one core is done before others
// have been told of it the loops stay as they are.
std::vector<std::string> write_parallel_if_long(Writer& writer, const Compute& compute,
                                                const std::string& block,
                                                const std::vector<std::pair<std::string, int64_t>>& loops);

// How many vectors a stage may take side by side along the axis that fills most: 1, 2, 4 or 8 at the most,
// whichever axis earlier answers leave innermost.
std::vector<int64_t> vector_counts(const Writer& writer, const Compute& compute);

// Vectors side by side along an axis, none of which reaches beyond its end: a store under a mask takes as
// long as a dozen others on some machines (AVX2 on Zen). So a short axis has shorter vectors, and where the
// tiles leave a rest, the last is to overlap the one before.
struct VectorTile {
  int64_t vectors = 1;
  int64_t lanes = 1;
  int64_t size() const { return vectors * lanes; }
};
// With `wanted` vectors, or fewer where these leave a rest that single ones do not.
VectorTile vector_tile(int64_t extent, int64_t most_lanes, int64_t wanted);
// How many it is best to want: what tiles compute twice against the loop over them.
int64_t preferred_vectors(int64_t extent, int64_t most_lanes);

// ceil(a / b)
inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
// 1, 2, 4 .. up to `limit` (included).
std::vector<int64_t> powers_of_two(int64_t limit);

}  // namespace lathe
