#include "space/rules/group.h"

#include <algorithm>
#include <cmath>

#include "expr/loop_counts.h"
#include "space/estimate.h"
#include "space/rules/layouts.h"
#include "space/rules/vectors.h"

namespace lathe {
namespace {

class GroupDecider {
 public:
  GroupDecider(Decider& decider, const Group& group, const TileAxes& tile)
      : d_(decider), group_(group), tile_(tile), last_(group.consumer.back()) {
    extent_ = d_.dag.computes[last_].axes[group.axis.at(last_)].extent;
  }

  GroupDecision decide();

 private:
  const std::string& block(size_t stage) const { return d_.dag.computes[stage].output->name; }
  int64_t choose_size();
  int64_t preferred_size(const std::vector<int64_t>& sizes) const;
  int64_t bytes_between() const;
  int64_t bytes_beside() const;
  double cycles_in_groups_of(int64_t size) const;
  // Whether there is but one group, which several cores do stage by stage.
  bool stages_apart(int64_t size) const { return size == extent_ && d_.task.target.cpu().cores > 1; }
  void place_between(int64_t size);

  Decider& d_;
  const Group& group_;
  const TileAxes& tile_;
  size_t last_;
  int64_t extent_ = 1;
};

// What the product reads from the chains and writes for them, for one place of the common axis.
int64_t GroupDecider::bytes_between() const {
  int64_t bytes = 0;
  const auto add = [&](size_t stage) {
    const Tensor& tensor = d_.dag.computes[stage].output;
    int64_t size = bytes_of(tensor->dtype);
    for (const int64_t extent : tensor->shape) size *= extent;
    bytes += size / extent_;
  };
  add(group_.product);
  for (const Chain& chain : group_.producers) add(chain.back());
  return bytes;
}

// What the product reads of its other operand for every group.
int64_t GroupDecider::bytes_beside() const {
  int64_t bytes = 0;
  for (const Operand& operand : d_.stages.of(group_.product).operands) {
    if (operand.is_constant || operand.is_prepared)
      bytes += operand.load->tensor.elements() * bytes_of(operand.load->tensor->dtype);
  }
  return bytes;
}

// For every group the other operand is fetched anew, while the multiply-adds go on: hidden behind them where
// that takes much less time, in parts where it takes about as long. What lies between the chains goes further
// away where the group is too large for the second-level cache or other cores made it. Cores share the way to
// memory.
double GroupDecider::cycles_in_groups_of(int64_t size) const {
  const CpuTarget& target = d_.task.target.cpu();
  const auto cores = static_cast<double>(d_.task.target.cpu().cores);
  const auto beside = static_cast<double>(bytes_beside());
  const auto between = static_cast<double>(bytes_between());
  const double multiplied = points_of(d_.dag.computes[group_.product]) / static_cast<double>(extent_) /
                            static_cast<double>(d_.lanes() * target.fma_per_cycle);
  const bool is_from_memory = beside > static_cast<double>(target.l3.bytes);
  const double fetched = beside / bytes_per_cycle(target, beside, d_.costs) * (is_from_memory ? cores : 1);
  const double in_cache = d_.costs.cache_share * static_cast<double>(target.l2.bytes);
  const bool is_far = stages_apart(size) || between * static_cast<double>(size) > in_cache;
  const double far_bytes = std::max(between * static_cast<double>(extent_), in_cache * 2);
  const double far = is_far ? 2 * between / bytes_per_cycle(target, far_bytes, d_.costs) : 0;
  const auto cycles_of = [&](int64_t places) {
    return std::hypot(multiplied * static_cast<double>(places), fetched) + far * static_cast<double>(places);
  };
  if (stages_apart(size)) return cycles_of(size) / cores;
  // The core that has the most groups is the last to end.
  const int64_t rest = extent_ % size;
  const int64_t rounds = ceil_div(ceil_div(extent_, size), target.cores);
  const bool ends_with_rest = rest != 0 && (extent_ / size) % target.cores == 0;
  const double cycles =
      static_cast<double>(rounds - 1) * cycles_of(size) + cycles_of(ends_with_rest ? rest : size);
  // A last group that is smaller has another tile, which may be a poor one.
  return rest == 0 ? cycles : cycles * d_.costs.rest_group;
}

int64_t GroupDecider::preferred_size(const std::vector<int64_t>& sizes) const {
  // So many groups for every core balance them well enough.
  const int64_t most = d_.task.target.cpu().cores > 1
                           ? ceil_div(extent_, whole(d_.costs.groups_a_core) * d_.task.target.cpu().cores)
                           : extent_;
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

int64_t GroupDecider::choose_size() {
  const std::vector<int64_t> sizes = sizes_of_parts(extent_);
  return d_.choose.choose(block(group_.product) + ".group", sizes, preferred_size(sizes));
}

// Planes of the buffers between the stages must not lie whole pages apart, where all of them fall on the same
// few places of the first-level cache.
void GroupDecider::place_between(int64_t size) {
  constexpr int64_t kPageBytes = 4096;
  const auto place = [&](size_t stage, size_t last_dim) {
    const Tensor& tensor = d_.dag.computes[stage].output;
    Layout layout = with_last(tensor, last_dim);
    const auto axis = group_.axis.at(stage);
    const int64_t row = tensor->shape[last_dim] * bytes_of(tensor->dtype);
    for (LayoutDim& dim : layout.dims) {
      if (dim.dim == static_cast<int>(axis) && row * size % kPageBytes == 0) dim.extra = 1;
    }
    d_.set_layout(tensor, layout);
  };
  place(group_.product, tile_.vector);
  for (const Chain& chain : group_.producers) {
    const Compute& product = d_.dag.computes[group_.product];
    for (size_t a = product.spatial_count(); a < product.axes.size(); ++a) {
      const auto dim = axis_of_producer(d_.dag, d_.stages.of(group_.product), a, chain.back());
      if (dim) place(chain.back(), *dim);
    }
  }
}

GroupDecision GroupDecider::decide() {
  GroupDecision decision{.last = last_, .axis = group_.axis.at(last_), .size = choose_size()};
  decision.is_whole = stages_apart(decision.size);
  place_between(decision.size);
  decision.places = d_.take_places();
  const auto axis_of = [&](size_t stage) {
    return decision.is_whole ? std::optional<size_t>() : std::optional(group_.axis.at(stage));
  };
  const Stage& product = d_.stages.of(group_.product);
  const GroupedLoops loops =
      decision.is_whole
          ? GroupedLoops{}
          : GroupedLoops{group_.axis.at(group_.product), decision.size, extent_ % decision.size != 0, {}};
  decision.consumer = decide_chain(d_, group_.consumer, axis_of(last_));
  decision.product = decide_product(d_, product, tile_, loops);
  for (const Chain& chain : group_.producers)
    decision.producers.push_back(decide_chain(d_, chain, axis_of(chain.back())));
  return decision;
}

}  // namespace

GroupDecision decide_group(Decider& decider, const Group& group, const TileAxes& tile) {
  return GroupDecider(decider, group, tile).decide();
}

void write_group(Writer& writer, const GroupDecision& decision) {
  write_places(writer, decision.places);
  write_chain(writer, decision.consumer);
  if (!decision.is_whole) {
    const Compute& last = writer.dag.computes[decision.last];
    const std::string& block = last.output->name;
    const std::string axis = last.axes[decision.axis].var.name();
    const auto name_of = [&](size_t stage) { return writer.dag.computes[stage].output->name; };
    writer.add(SplitStep{block, axis, {decision.size}});
    writer.add(ComputeAtStep{name_of(decision.product.stage), block, axis + ".0", Scope::thread});
    for (const ChainDecision& producer : decision.producers)
      writer.add(ComputeAtStep{name_of(producer.chain.back()), block, axis + ".0", Scope::thread});
  }
  write_product(writer, decision.product);
  for (const ChainDecision& producer : decision.producers) write_chain(writer, producer);
  if (!decision.is_whole && writer.task.target.cpu().cores > 1) {
    const Compute& last = writer.dag.computes[decision.last];
    writer.add(
        AnnotateStep{last.output->name, last.axes[decision.axis].var.name() + ".0", LoopKind::parallel});
  }
}

}  // namespace lathe
