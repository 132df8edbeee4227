// Rule: a product between two chains of transforms is computed for a group of one common axis at a time, from
// the first chain's input to the last one's output, so that what lies between them stays in the second-level
// cache beside a panel of the other operand.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "space/rules/rules.h"

namespace lathe {
namespace {

class GroupWriter {
 public:
  GroupWriter(Writer& writer, const Group& group, const TileAxes& tile)
      : w_(writer), group_(group), tile_(tile), last_(group.consumer.back()) {
    extent_ = w_.dag.computes[last_].axes[group.axis.at(last_)].extent;
  }

  Status write();

 private:
  const std::string& block(size_t stage) const { return w_.dag.computes[stage].output->name; }
  int64_t choose_size();
  int64_t preferred_size(const std::vector<int64_t>& sizes) const;
  int64_t bytes_between() const;
  void place_between(int64_t size);

  Writer& w_;
  const Group& group_;
  const TileAxes& tile_;
  size_t last_;
  int64_t extent_ = 1;
};

// What the product reads from the chains and writes for them, for one place of the common axis.
int64_t GroupWriter::bytes_between() const {
  int64_t bytes = 0;
  const auto add = [&](size_t stage) {
    const Tensor& tensor = w_.dag.computes[stage].output;
    int64_t size = bytes_of(tensor->dtype);
    for (const int64_t extent : tensor->shape) size *= extent;
    bytes += size / extent_;
  };
  add(group_.product);
  for (const Chain& chain : group_.producers) add(chain.back());
  return bytes;
}

// The largest that three quarters of the second-level cache hold, or half of that where it leaves no rest.
// Fewer places would read the other operand more often than a core can fetch it.
int64_t GroupWriter::preferred_size(const std::vector<int64_t>& sizes) const {
  constexpr int64_t kLeast = 14;
  int64_t most = std::max<int64_t>(w_.task.target.l2.bytes * 3 / 4 / bytes_between(), kLeast);
  if (w_.task.cores > 1) most = std::min(most, ceil_div(extent_, int64_t{4} * w_.task.cores));
  int64_t best = sizes.front();
  for (const int64_t size : sizes) {
    if (size > most) break;
    if (extent_ % size == 0 || extent_ % best != 0 || size > 2 * best) best = size;
  }
  return best;
}

int64_t GroupWriter::choose_size() {
  // Equal parts of the axis, but for the last.
  std::set<int64_t> sizes;
  for (int64_t parts = 1; parts <= std::min<int64_t>(extent_, 64); parts += parts < 16 ? 1 : parts / 8)
    sizes.insert(ceil_div(extent_, parts));
  const std::vector<int64_t> values(sizes.begin(), sizes.end());
  return w_.choose.choose(block(group_.product) + ".group", values, preferred_size(values));
}

// Planes of the buffers between the stages must not lie whole pages apart, where all of them fall on the same
// few places of the first-level cache.
void GroupWriter::place_between(int64_t size) {
  constexpr int64_t kPageBytes = 4096;
  const auto place = [&](size_t stage, size_t last_dim) {
    const Tensor& tensor = w_.dag.computes[stage].output;
    Layout layout = with_last(tensor, last_dim);
    const auto axis = group_.axis.at(stage);
    const int64_t row = tensor->shape[last_dim] * bytes_of(tensor->dtype);
    for (LayoutDim& dim : layout.dims) {
      if (dim.dim == static_cast<int>(axis) && row * size % kPageBytes == 0) dim.extra = 1;
    }
    w_.set_layout(tensor, layout);
  };
  place(group_.product, tile_.vector);
  for (const Chain& chain : group_.producers) {
    const Compute& product = w_.dag.computes[group_.product];
    for (size_t a = product.spatial_count(); a < product.axes.size(); ++a) {
      const auto dim = axis_of_producer(w_.dag, w_.stages.of(group_.product), a, chain.back());
      if (dim) place(chain.back(), *dim);
    }
  }
}

Status GroupWriter::write() {
  const int64_t size = choose_size();
  const std::string axis = w_.dag.computes[last_].axes[group_.axis.at(last_)].var.name();
  place_between(size);
  LATHE_TRY_STATUS(write_chain(w_, group_.consumer, {group_.axis.at(last_)}));
  w_.add(SplitStep{block(last_), axis, {size}});
  w_.add(ComputeAtStep{block(group_.product), block(last_), axis + ".0", Scope::thread});
  for (const Chain& chain : group_.producers) {
    w_.add(ComputeAtStep{block(chain.back()), block(last_), axis + ".0", Scope::thread});
  }
  LATHE_TRY_STATUS(write_product(w_, w_.stages.of(group_.product), tile_,
                                 {group_.axis.at(group_.product), size, extent_ % size != 0, {}}));
  for (const Chain& chain : group_.producers)
    LATHE_TRY_STATUS(write_chain(w_, chain, {group_.axis.at(chain.back())}));
  if (w_.task.cores > 1 && size < extent_)
    w_.add(AnnotateStep{block(last_), axis + ".0", LoopKind::parallel});
  return {};
}

}  // namespace

Status write_group(Writer& writer, const Group& group, const TileAxes& tile) {
  return GroupWriter(writer, group, tile).write();
}

}  // namespace lathe
