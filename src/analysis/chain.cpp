#include "analysis/chain.h"

#include <algorithm>

#include "analysis/vector_part.h"
#include "expr/walk.h"

namespace lathe {
namespace {

std::optional<size_t> producer_of(const Dag& dag, const Operand& operand) {
  for (size_t i = 0; i < dag.computes.size(); ++i) {
    if (dag.computes[i].output == operand.load->tensor) return i;
  }
  return std::nullopt;
}

// The only stage that reads this one's result, if it is read inside the Dag alone.
std::optional<size_t> only_consumer(const Dag& dag, size_t stage) {
  const Tensor& output = dag.computes[stage].output;
  const std::vector<size_t> consumers = dag.consumers(output);
  if (consumers.size() != 1 || dag.is_output(output)) return std::nullopt;
  return consumers.front();
}

// The transform that gives this operand to this stage alone.
std::optional<size_t> transform_behind(const Dag& dag, const Classified& stages, size_t stage,
                                       const Operand& operand) {
  const auto producer = producer_of(dag, operand);
  if (!producer || stages.of(*producer).role != Role::transform) return std::nullopt;
  return only_consumer(dag, *producer) == stage ? producer : std::nullopt;
}

// The axis of the chain's first stage that an axis of its last stage leads to.
std::optional<size_t> axis_at_beginning(const Dag& dag, const Classified& stages, const Chain& chain,
                                        size_t axis) {
  std::optional<size_t> here = axis;
  for (size_t k = chain.size(); k-- > 1 && here;)
    here = axis_of_producer(dag, stages.of(chain[k]), *here, chain[k - 1]);
  return here;
}

bool is_read_in_steps(const Dag& dag, const Stage& stage, size_t axis) {
  if (!stage.epilogue) return true;
  const std::vector<const Load*> loads = loads_of(dag.computes[*stage.epilogue].body);
  return std::ranges::all_of(loads, [&](const Load* load) {
    if (load->tensor != dag.computes[stage.compute].output) return true;
    const auto part = index_part(load->index[axis]);
    return part && part->kind != AtomKind::floor_div;
  });
}

bool in_table(const Compute& compute, size_t axis) {
  return std::ranges::any_of(loads_of(compute.body), [&](const Load* load) {
    return !load->tensor->literal.empty() && std::ranges::any_of(load->index, [&](const Affine& index) {
      return index.uses(compute.axes[axis].var);
    });
  });
}

// Every stage's axis that this axis of the last consumer leads to; nothing where it does not lead everywhere.
std::optional<std::map<size_t, size_t>> follow(const Dag& dag, const Classified& stages, const Group& group,
                                               size_t axis) {
  std::map<size_t, size_t> found;
  Chain path = {group.product};
  path.insert(path.end(), group.consumer.begin(), group.consumer.end());
  const auto walk_back = [&](const Chain& chain, size_t from) {
    std::optional<size_t> here = from;
    for (size_t k = chain.size(); k-- > 0;) {
      found[chain[k]] = *here;
      if (k == 0) break;
      here = axis_of_producer(dag, stages.of(chain[k]), *here, chain[k - 1]);
      if (!here) return false;
    }
    return true;
  };
  if (!walk_back(path, axis)) return std::nullopt;
  const size_t at_product = found[group.product];
  for (const Chain& producer : group.producers) {
    const auto there = axis_of_producer(dag, stages.of(group.product), at_product, producer.back());
    if (!there || !walk_back(producer, *there)) return std::nullopt;
  }
  return found;
}

// A chain can be written along this axis: what it reads has the axis, and vectors another one to run along.
bool has_vectors_beside(const Dag& dag, const Classified& stages, const Chain& chain, size_t axis) {
  const std::vector<size_t> common = axes_of_chain(dag, stages, chain).common.back();
  if (std::ranges::find(common, axis) == common.end()) return false;
  return std::ranges::any_of(vector_axes(dag, stages, chain), [&](size_t a) { return a != axis; });
}

}  // namespace

Chain chain_ending_at(const Dag& dag, const Classified& stages, size_t last) {
  Chain chain = {last};
  while (const auto before =
             transform_behind(dag, stages, chain.front(), stages.of(chain.front()).operands[0]))
    chain.insert(chain.begin(), *before);
  return chain;
}

std::optional<size_t> axis_of_producer(const Dag& dag, const Stage& consumer, size_t axis, size_t producer) {
  std::optional<size_t> found;
  for (const Operand& operand : consumer.operands) {
    if (operand.load->tensor != dag.computes[producer].output) continue;
    if (found || operand.dim_of_axis[axis] < 0) return std::nullopt;
    found = static_cast<size_t>(operand.dim_of_axis[axis]);
  }
  return found;
}

ChainAxes axes_of_chain(const Dag& dag, const Classified& stages, const Chain& chain) {
  ChainAxes axes;
  const Compute& last = dag.computes[chain.back()];
  std::vector<size_t> common;
  for (size_t a = 0; a < last.spatial_count(); ++a) {
    const auto first = axis_at_beginning(dag, stages, chain, a);
    if (first && stages.of(chain.front()).operands[0].uses[*first] && !in_table(last, a) &&
        !in_table(dag.computes[chain.front()], *first)) {
      common.push_back(a);
    }
  }
  for (size_t k = chain.size(); k-- > 0;) {
    const Compute& compute = dag.computes[chain[k]];
    std::vector<size_t> carried;
    size_t table = 0;
    for (size_t a = 0; a < compute.spatial_count(); ++a) {
      if (in_table(compute, a)) {
        table = a;
      } else if (std::ranges::find(common, a) == common.end()) {
        carried.push_back(a);
      }
    }
    axes.common.insert(axes.common.begin(), common);
    axes.carried.insert(axes.carried.begin(), carried);
    axes.table.insert(axes.table.begin(), table);
    if (k == 0) break;
    for (size_t& a : common) a = *axis_of_producer(dag, stages.of(chain[k]), a, chain[k - 1]);
  }
  return axes;
}

std::vector<size_t> vector_axes(const Dag& dag, const Classified& stages, const Chain& chain) {
  std::vector<size_t> found;
  const ChainAxes axes = axes_of_chain(dag, stages, chain);
  for (size_t a : axes.common.back()) {
    const size_t first = *axis_at_beginning(dag, stages, chain, a);
    const bool contiguous = stages.of(chain.front()).operands[0].digit_dim[first] >= 0;
    if (contiguous && dag.computes[chain.back()].axes[a].extent >= 2 &&
        is_read_in_steps(dag, stages.of(chain.back()), a)) {
      found.push_back(a);
    }
  }
  return found;
}

std::optional<Group> group_around(const Dag& dag, const Classified& stages, size_t product) {
  Group group{product, {}, {}, {}};
  for (auto next = only_consumer(dag, product); next && stages.of(*next).role == Role::transform;
       next = only_consumer(dag, *next)) {
    group.consumer.push_back(*next);
  }
  if (group.consumer.empty()) return std::nullopt;
  for (const Operand& operand : stages.of(product).operands) {
    const auto transform = transform_behind(dag, stages, product, operand);
    if (transform) group.producers.push_back(chain_ending_at(dag, stages, *transform));
  }
  const Compute& last = dag.computes[group.consumer.back()];
  std::optional<size_t> best;
  for (size_t a = 0; a < last.spatial_count(); ++a) {
    if (last.axes[a].extent < 2) continue;  // one group of all is no group
    const auto axes = follow(dag, stages, group, a);
    if (!axes || !has_vectors_beside(dag, stages, group.consumer, a)) continue;
    const bool written = std::ranges::all_of(group.producers, [&](const Chain& chain) {
      return has_vectors_beside(dag, stages, chain, axes->at(chain.back()));
    });
    if (!written || (best && last.axes[a].extent <= last.axes[*best].extent)) continue;
    best = a;
    group.axis = *axes;
  }
  return best ? std::optional(group) : std::nullopt;
}

}  // namespace lathe
