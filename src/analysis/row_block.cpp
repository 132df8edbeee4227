#include "analysis/row_block.h"

#include <algorithm>

#include "expr/walk.h"

namespace lathe {
namespace {

// The dimension of `tensor` in which every read of it by this compute is indexed by the axis alone, and by
// no other axis' index.
std::optional<size_t> plain_dim(const Compute& consumer, const Tensor& tensor, size_t axis) {
  const Affine index(consumer.axes[axis].var);
  std::optional<size_t> found;
  for (const Load* load : loads_of(consumer.body)) {
    if (load->tensor != tensor) continue;
    const auto place = std::ranges::find(load->index, index);
    const auto uses = [&](const Affine& other) { return other.uses(consumer.axes[axis].var); };
    if (place == load->index.end() || std::ranges::count_if(load->index, uses) != 1) return std::nullopt;
    const auto dim = static_cast<size_t>(place - load->index.begin());
    if (found && *found != dim) return std::nullopt;
    found = dim;
  }
  return found;
}

// The axis of `stage` that the common axis at `place` leads to from all that read it.
std::optional<size_t> common_axis(const Dag& dag, const RowBlock& block, size_t stage, size_t place) {
  const Tensor& tensor = dag.computes[stage].output;
  std::optional<size_t> found;
  for (const size_t consumer : dag.consumers(tensor)) {
    const Compute& compute = dag.computes[consumer];
    const size_t axis = block.axes.at(consumer)[place];
    const auto dim = plain_dim(compute, tensor, axis);
    if (!dim || (found && *found != *dim) || tensor->shape[*dim] != compute.axes[axis].extent)
      return std::nullopt;
    found = dim;
  }
  return found;
}

// Adds a stage that only stages of the block read. What a reduction leaves out is no common axis any more;
// another stage must have all of them.
bool add_member(const Dag& dag, const Classified& stages, size_t stage, RowBlock& block) {
  const Tensor& tensor = dag.computes[stage].output;
  const std::vector<size_t> consumers = dag.consumers(tensor);
  const Role role = stages.of(stage).role;
  const bool may_run = role == Role::pointwise || role == Role::reduction || role == Role::product;
  const bool inside =
      std::ranges::all_of(consumers, [&](size_t consumer) { return block.axes.contains(consumer); });
  if (!may_run || !inside || consumers.empty() || dag.is_output(tensor)) return false;
  std::vector<size_t> own;
  std::vector<size_t> kept;
  int64_t rows = 1;
  for (size_t place = 0; place < block.axes.at(block.last).size(); ++place) {
    const auto axis = common_axis(dag, block, stage, place);
    if (!axis) continue;
    own.push_back(*axis);
    kept.push_back(place);
    rows *= tensor->shape[*axis];
  }
  const bool takes_axes_away = kept.size() < block.axes.at(block.last).size();
  if (rows == 1 || (takes_axes_away && role != Role::reduction)) return false;
  for (auto& [member, axes] : block.axes) {
    std::vector<size_t> left;
    for (const size_t place : kept) left.push_back(axes[place]);
    axes = std::move(left);
  }
  block.axes.emplace(stage, std::move(own));
  block.members.insert(block.members.begin(), stage);
  return true;
}

// A reduction inside whose operand, or result, is needed more than once: else the stages follow one another
// as well without a block.
bool is_worth_it(const Dag& dag, const Classified& stages, const RowBlock& block) {
  const auto reduces = [&](size_t stage) { return stages.of(stage).role == Role::reduction; };
  const auto is_read_twice = [&](size_t stage) {
    return dag.consumers(dag.computes[stage].output).size() > 1;
  };
  return std::ranges::any_of(block.members, reduces) && std::ranges::any_of(block.members, is_read_twice);
}

bool has_vectors_inside(const Compute& last) {
  return last.spatial_count() > 0 && last.axes[last.spatial_count() - 1].extent > 1;
}

}  // namespace

std::vector<RowBlock> row_blocks_of(const Dag& dag, const Classified& stages) {
  std::vector<RowBlock> blocks;
  for (size_t last = stages.stages.size(); last-- > 0;) {
    const bool is_taken =
        std::ranges::any_of(blocks, [&](const RowBlock& b) { return b.axes.contains(last); });
    if (is_taken || stages.of(last).role != Role::pointwise || !has_vectors_inside(dag.computes[last]))
      continue;
    RowBlock block{last, {}, {}};
    // Vectors run along the last axis, inside the rows.
    block.axes[last] = {};
    for (size_t axis = 0; axis + 1 < dag.computes[last].spatial_count(); ++axis)
      block.axes[last].push_back(axis);
    for (size_t stage = last; stage-- > 0;) add_member(dag, stages, stage, block);
    if (is_worth_it(dag, stages, block)) blocks.push_back(std::move(block));
  }
  return blocks;
}

int64_t rows_of(const Dag& dag, const RowBlock& block) {
  int64_t rows = 1;
  for (const size_t axis : block.axes.at(block.last)) rows *= dag.computes[block.last].axes[axis].extent;
  return rows;
}

int64_t bytes_of_row(const Dag& dag, const RowBlock& block) {
  int64_t bytes = 0;
  for (const size_t member : block.members) {
    const Tensor& tensor = dag.computes[member].output;
    bytes += tensor.elements() * bytes_of(tensor->dtype);
  }
  return std::max<int64_t>(1, bytes / rows_of(dag, block));
}

}  // namespace lathe
