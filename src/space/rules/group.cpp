// Rule: a product between two chains of transforms is computed for a group of one common axis at a time, from
// the first chain's input to the last one's output, so that what lies between them stays in the second-level
// cache beside a panel of the other operand. Several cores do a group each, or, where the axis is too short
// for what every group fetches of the other operand, every stage together, one after another.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "expr/analysis.h"
#include "space/estimate.h"
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
  int64_t bytes_beside() const;
  double cycles_in_groups_of(int64_t size) const;
  // Whether there is but one group, which several cores do stage by stage.
  bool stages_apart(int64_t size) const { return size == extent_ && w_.cpu().cores > 1; }
  void place_between(int64_t size);
  Status write_apart();

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

// What the product reads of its other operand for every group.
int64_t GroupWriter::bytes_beside() const {
  int64_t bytes = 0;
  for (const Operand& operand : w_.stages.of(group_.product).operands) {
    if (operand.is_constant || operand.is_prepared)
      bytes += operand.load->tensor.elements() * bytes_of(operand.load->tensor->dtype);
  }
  return bytes;
}

// For every group the other operand is fetched anew, while the multiply-adds go on; what lies between the
// chains goes further away where the group is too large for the second-level cache or other cores made it.
// Cores share the way to memory.
double GroupWriter::cycles_in_groups_of(int64_t size) const {
  constexpr double kShareOfCache = 0.75;
  const CpuTarget& target = w_.cpu();
  const auto cores = static_cast<double>(w_.cpu().cores);
  const auto beside = static_cast<double>(bytes_beside());
  const auto between = static_cast<double>(bytes_between());
  const double multiplied = points_of(w_.dag.computes[group_.product]) / static_cast<double>(extent_) /
                            static_cast<double>(w_.lanes() * target.fma_per_cycle);
  const bool is_from_memory = beside > static_cast<double>(target.l3.bytes);
  const double fetched = beside / bytes_per_cycle(target, beside) * (is_from_memory ? cores : 1);
  const double in_cache = kShareOfCache * static_cast<double>(target.l2.bytes);
  const bool is_far = stages_apart(size) || between * static_cast<double>(size) > in_cache;
  const double far_bytes = std::max(between * static_cast<double>(extent_), in_cache * 2);
  const double far = is_far ? 2 * between / bytes_per_cycle(target, far_bytes) : 0;
  const auto cycles_of = [&](int64_t places) {
    return std::max(multiplied * static_cast<double>(places), fetched) + far * static_cast<double>(places);
  };
  if (stages_apart(size)) return cycles_of(size) / cores;
  // A last group that is smaller has another tile, which may be a poor one.
  constexpr double kRestPenalty = 1.03;
  const int64_t rest = extent_ % size;
  const int64_t whole_groups = extent_ / size;
  const double cycles = static_cast<double>(whole_groups) * cycles_of(size);
  return (rest == 0 ? cycles : (cycles + cycles_of(rest)) * kRestPenalty) / cores;
}

int64_t GroupWriter::preferred_size(const std::vector<int64_t>& sizes) const {
  // So many groups for every core balance them well enough.
  const int64_t most = w_.cpu().cores > 1 ? ceil_div(extent_, int64_t{4} * w_.cpu().cores) : extent_;
  int64_t best = sizes.front();
  double least = cycles_in_groups_of(best);
  for (const int64_t size : sizes) {
    if (size > most && !stages_apart(size)) continue;
    const double cycles = cycles_in_groups_of(size);
    if (cycles > least) continue;
    least = cycles;
    best = size;
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

Status GroupWriter::write_apart() {
  LATHE_TRY_STATUS(write_chain(w_, group_.consumer));
  LATHE_TRY_STATUS(write_product(w_, w_.stages.of(group_.product), tile_));
  for (const Chain& chain : group_.producers) LATHE_TRY_STATUS(write_chain(w_, chain));
  return {};
}

Status GroupWriter::write() {
  const int64_t size = choose_size();
  const std::string axis = w_.dag.computes[last_].axes[group_.axis.at(last_)].var.name();
  place_between(size);
  if (stages_apart(size)) return write_apart();
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
  if (w_.cpu().cores > 1) w_.add(AnnotateStep{block(last_), axis + ".0", LoopKind::parallel});
  return {};
}

}  // namespace

Status write_group(Writer& writer, const Group& group, const TileAxes& tile) {
  return GroupWriter(writer, group, tile).write();
}

}  // namespace lathe
