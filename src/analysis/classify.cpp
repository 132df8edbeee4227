#include "analysis/classify.h"

#include <algorithm>
#include <ranges>

#include "expr/walk.h"
#include "loop/region.h"
#include "schedule/invert_index.h"

namespace lathe {
namespace {

bool is_constant_argument(const Task& task, const Tensor& tensor) {
  return std::ranges::any_of(task.arguments, [&](const Argument& argument) {
    return argument.tensor == tensor && argument.is_constant;
  });
}

bool reads_constants_only(const Task& task, const Dag& dag, const Compute& compute,
                          const std::vector<Stage>& stages) {
  const std::vector<const Load*> loads = loads_of(compute.body);
  if (loads.empty()) return false;
  return std::ranges::all_of(loads, [&](const Load* load) {
    if (!load->tensor->literal.empty() || is_constant_argument(task, load->tensor)) return true;
    for (size_t i = 0; i < stages.size(); ++i) {
      if (dag.computes[i].output == load->tensor) return stages[i].role == Role::prepared;
    }
    return false;
  });
}

// Reuse: some operand leaves out a spatial axis, so that its elements serve several results.
bool has_reuse(const Compute& compute, const std::vector<Operand>& operands) {
  return std::ranges::any_of(operands, [&](const Operand& operand) {
    for (size_t axis = 0; axis < compute.spatial_count(); ++axis) {
      if (!operand.uses[axis] && compute.axes[axis].extent > 1) return true;
    }
    return false;
  });
}

// Whether each element of the operand, which no copy can place better beforehand, serves once: then the sum
// is bound by reading it, and no tile of results helps.
bool is_read_once(const Compute& compute, const Operand& operand) {
  if (operand.is_constant || operand.is_prepared) return false;
  for (size_t axis = 0; axis < compute.axes.size(); ++axis) {
    if (compute.axes[axis].extent > 1 && operand.dim_of_axis[axis] < 0) return false;
  }
  return true;
}

// What is added up where the conditions hold that stand before it, and where they do not adds nothing.
Expr without_guards(const Expr& body) {
  const Select* choice = body.as<Select>();
  if (choice == nullptr) return body;
  const Literal* otherwise = choice->if_false.as<Literal>();
  return otherwise != nullptr && otherwise->value == 0 ? without_guards(choice->if_true) : body;
}

bool is_product(const Compute& compute, const std::vector<Operand>& operands) {
  if (compute.reduction != Reduction::sum || operands.size() < 2) return false;
  const Expr added = without_guards(compute.body);
  const Binary* product = added.as<Binary>();
  const bool is_stream =
      std::ranges::any_of(operands, [&](const Operand& operand) { return is_read_once(compute, operand); });
  return product != nullptr && product->op == BinaryOp::mul && has_reuse(compute, operands) && !is_stream;
}

// How many spatial axes the entries of tables depend on.
int64_t spatial_axes_in_tables(const Compute& compute) {
  const std::vector<const Load*> loads = loads_of(compute.body);
  const auto is_in_table = [&](const Axis& axis) {
    return std::ranges::any_of(loads, [&](const Load* load) {
      return !load->tensor->literal.empty() &&
             std::ranges::any_of(load->index, [&](const Affine& index) { return index.uses(axis.var); });
    });
  };
  return std::ranges::count_if(compute.axes | std::views::take(compute.spatial_count()), is_in_table);
}

// A sum so short that it can be unrolled whole, over entries of a table times elements of one tensor:
// unrolled, the entries are literals, and those that are 0 vanish. The table has a row for every result along
// one axis; a table of weights that all results share makes no transform.
bool is_transform(const Compute& compute, const std::vector<Operand>& operands, const CostConstants& costs) {
  const Binary* product = compute.body.as<Binary>();
  if (compute.reduction != Reduction::sum || operands.size() != 1 || product == nullptr) return false;
  if (product->op != BinaryOp::mul || compute.axes.size() != compute.spatial_count() + 1) return false;
  const Axis& reduced = compute.axes.back();
  const auto is_table = [&](const Expr& factor) {
    const Load* load = factor.as<Load>();
    return load != nullptr && !load->tensor->literal.empty() &&
           std::ranges::any_of(load->index, [&](const Affine& index) { return index.uses(reduced.var); });
  };
  return reduced.extent <= whole(costs.longest_transform) && (is_table(product->a) || is_table(product->b)) &&
         spatial_axes_in_tables(compute) == 1;
}

// Whether the consumer's reads of the compute, each replaced by its body, leave an expression of some size:
// one that grows without bound takes ever longer to write, and leaves the compiler nothing to keep.
bool stays_small(const Compute& compute, const Compute& consumer, const CostConstants& costs) {
  const std::vector<const Load*> loads = loads_of(consumer.body);
  const auto reads = static_cast<size_t>(
      std::ranges::count(loads, compute.output, [](const Load* load) { return load->tensor; }));
  return reads <= 1 || static_cast<int64_t>(reads * size_of(compute.body)) <= whole(costs.largest_inlined);
}

// Whether each place that the consumer's axes lead to is one of the tensor, and none but the tensor's only
// place in a dimension is always the same: what is read under a condition may lie outside, what is read at a
// fixed place is there in one iteration alone.
bool follows_every_place(const std::vector<Affine>& index, const Tensor& tensor, const Compute& consumer) {
  Ranges domains;
  for (const Axis& axis : consumer.axes) domains.set_extent(axis.var, axis.extent);
  for (size_t dim = 0; dim < index.size(); ++dim) {
    const int64_t extent = tensor->shape[dim];
    const auto places = bounds(index[dim], domains);
    if (!places || places->lo < 0 || places->hi >= extent) return false;
    if (index[dim].terms().empty() && extent > 1) return false;
  }
  return true;
}

// Whether the consumer reads the tensor at one place, from which its own axes follow.
bool reads_point_by_point(const Compute& consumer, const Tensor& tensor) {
  const Load* only = nullptr;
  for (const Load* load : loads_of(consumer.body)) {
    if (load->tensor != tensor) continue;
    if (only != nullptr && only->index != load->index) return false;
    only = load;
  }
  if (only == nullptr) return false;
  return is_invertible(only->index, consumer.axes) && follows_every_place(only->index, tensor, consumer);
}

// What spreads each result of a reduction over many points is a stage of its own, with vectors of its own.
bool has_points_of(const Compute& consumer, const Tensor& tensor) {
  int64_t own = 1;
  int64_t read = 1;
  for (const int64_t extent : consumer.output->shape) own *= extent;
  for (const int64_t extent : tensor->shape) read *= extent;
  return own == read;
}

// Where a stage's result is taken point by point, all else that the consumer reads is there already. What is
// prepared is so at last, by the last steps of a trace.
bool other_reads_are_ready(const Dag& dag, const Compute& consumer, size_t stage) {
  return std::ranges::all_of(loads_of(consumer.body), [&](const Load* load) {
    const auto producer = std::ranges::find(dag.computes, load->tensor, &Compute::output);
    const auto place = static_cast<size_t>(producer - dag.computes.begin());
    return producer == dag.computes.end() || place <= stage;
  });
}

// Whether some consumer reads the tensor at places that it only learns at run time: what is computed there,
// and on which conditions, would follow from each of them anew.
bool is_read_at_chosen_places(const Dag& dag, const std::vector<size_t>& consumers, const Tensor& tensor) {
  return std::ranges::any_of(consumers, [&](size_t consumer) {
    return std::ranges::any_of(loads_of(dag.computes[consumer].body), [&](const Load* load) {
      return load->tensor == tensor && std::ranges::any_of(load->index, depends_on_values);
    });
  });
}

// What decides on roles, besides the stages before.
struct Classifying {
  const Task& task;
  const Dag& dag;
  const std::set<std::string>& stored;
  const CostConstants& costs;
  Consumers consumers{dag};
};

Role role_of(const Classifying& all, size_t i, const std::vector<Stage>& stages,
             const std::vector<Operand>& operands) {
  const auto& [task, dag, stored, costs, all_consumers] = all;
  const Compute& compute = dag.computes[i];
  if (!dag.is_output(compute.output) && reads_constants_only(task, dag, compute, stages))
    return Role::prepared;
  if (compute.reduction != Reduction::none) {
    if (is_product(compute, operands)) return Role::product;
    return is_transform(compute, operands, costs) ? Role::transform : Role::reduction;
  }
  // A change of view costs nothing anywhere; arithmetic goes into element-wise consumers only, where it is
  // done once an element.
  const bool is_view = compute.body.as<Load>() != nullptr;
  const std::vector<size_t>& consumers = all_consumers.of(compute.output);
  const bool elementwise_consumer = consumers.size() == 1 &&
                                    dag.computes[consumers[0]].reduction == Reduction::none &&
                                    stays_small(compute, dag.computes[consumers[0]], costs) &&
                                    !is_read_at_chosen_places(dag, consumers, compute.output);
  const bool inlinable = !dag.is_output(compute.output) && !stored.contains(compute.output->name) &&
                         !consumers.empty() && (is_view || elementwise_consumer);
  return inlinable ? Role::inlined : Role::pointwise;
}

// Axes of one place have no part in any index.
Affine without_single_places(const Affine& index, const Compute& compute) {
  Substitution zeros;
  for (const Axis& axis : compute.axes) {
    if (axis.extent == 1) zeros.emplace_back(axis.var, Affine(0));
  }
  return zeros.empty() ? index : substitute(index, zeros);
}

// Whether the index, divided by the axis' extent, leaves the axis.
bool is_digit(const Affine& index, const Axis& axis) {
  Ranges known;
  known.set_extent(axis.var, axis.extent);
  return axis.extent > 1 && modulo(index, axis.extent, known) == Affine(axis.var);
}

}  // namespace

std::vector<Operand> operands_of(const Task& task, const Compute& compute) {
  std::vector<Operand> operands;
  for (const Load* load : loads_of(compute.body)) {
    if (!load->tensor->literal.empty()) continue;
    Operand operand;
    operand.load = load;
    operand.is_constant = is_constant_argument(task, load->tensor);
    std::vector<Affine> indices;
    for (const Affine& index : load->index) indices.push_back(without_single_places(index, compute));
    for (const Axis& axis : compute.axes) {
      int used = 0;
      int dim_of_axis = -1;
      int step_dim = -1;
      int digit_dim = -1;
      for (size_t dim = 0; dim < indices.size(); ++dim) {
        used += indices[dim].uses(axis.var) ? 1 : 0;
        if (indices[dim] == Affine(axis.var)) dim_of_axis = static_cast<int>(dim);
        const bool steps = indices[dim].uses(axis.var) && !(indices[dim] - Affine(axis.var)).uses(axis.var);
        if (steps) step_dim = static_cast<int>(dim);
        if (steps && is_digit(indices[dim], axis)) digit_dim = static_cast<int>(dim);
      }
      operand.uses.push_back(used > 0);
      operand.dim_of_axis.push_back(used == 1 ? dim_of_axis : -1);
      operand.step_dim.push_back(used == 1 ? step_dim : -1);
      operand.digit_dim.push_back(used == 1 ? digit_dim : -1);
    }
    operands.push_back(std::move(operand));
  }
  return operands;
}

namespace {

// All types follow from what is loaded and what is cast; where results are no i64, values of i64 are indices.
int64_t widest_bytes(const Compute& compute) {
  int64_t bytes = bytes_of(compute.output->dtype);
  for_each(compute.body, [&](const Expr& e) {
    const bool is_value = e.as<Cast>() != nullptr || e.as<Load>() != nullptr;
    if (is_value && e.type().dtype != DType::i64) bytes = std::max(bytes, bytes_of(e.type().dtype));
  });
  return bytes;
}

// The stage of the next compute, without its epilogue.
Stage next_stage(const Classifying& all, const std::vector<Stage>& before) {
  const Compute& compute = all.dag.computes[before.size()];
  Stage stage;
  stage.compute = before.size();
  stage.lanes = lanes_of(all.task.target, static_cast<int>(widest_bytes(compute)));
  stage.operands = operands_of(all.task, compute);
  stage.role = role_of(all, stage.compute, before, stage.operands);
  for (Operand& operand : stage.operands) {
    operand.is_prepared = std::ranges::any_of(before, [&](const Stage& producer) {
      return producer.role == Role::prepared &&
             all.dag.computes[producer.compute].output == operand.load->tensor;
    });
  }
  return stage;
}

}  // namespace

std::optional<size_t> first_inlined(const Task& task, const Dag& dag, const std::set<std::string>& stored,
                                    const CostConstants& costs) {
  const Classifying all{task, dag, stored, costs};
  std::vector<Stage> stages;
  while (stages.size() < dag.computes.size()) {
    stages.push_back(next_stage(all, stages));
    if (stages.back().role == Role::inlined) return stages.back().compute;
  }
  return std::nullopt;
}

Classified classify(const Task& task, const Dag& dag, const std::set<std::string>& stored,
                    const CostConstants& costs) {
  const Classifying all{task, dag, stored, costs};
  Classified result;
  result.lanes = lanes_of(task.target, 1);
  while (result.stages.size() < dag.computes.size()) {
    result.stages.push_back(next_stage(all, result.stages));
    result.lanes = std::min(result.lanes, result.stages.back().lanes);
  }
  for (Stage& stage : result.stages) {
    const Tensor& output = dag.computes[stage.compute].output;
    const std::vector<size_t>& consumers = all.consumers.of(output);
    if (consumers.size() != 1 || dag.is_output(output)) continue;
    const Compute& consumer = dag.computes[consumers[0]];
    const bool takes_results = stage.role != Role::reduction || has_points_of(consumer, output);
    if (consumer.reduction == Reduction::none && takes_results && reads_point_by_point(consumer, output) &&
        other_reads_are_ready(dag, consumer, stage.compute)) {
      stage.epilogue = consumers[0];
    }
  }
  return result;
}

Dag inline_compute(const Dag& dag, size_t compute) {
  const Compute& inlined = dag.computes[compute];
  Dag result = dag;
  result.computes.erase(result.computes.begin() + static_cast<std::ptrdiff_t>(compute));
  for (Compute& consumer : result.computes) {
    const std::vector<const Load*> loads = loads_of(consumer.body);
    if (std::ranges::find(loads, inlined.output, &Load::tensor) == loads.end()) continue;
    const auto rewrite = [&](const Expr& e) -> Expr {
      const Load* load = e.as<Load>();
      if (load == nullptr || load->tensor != inlined.output) return {};
      Substitution values;
      for (size_t i = 0; i < load->index.size(); ++i)
        values.emplace_back(inlined.axes[i].var, load->index[i]);
      return substitute(inlined.body, values);
    };
    consumer.body = rebuild(consumer.body, {rewrite, nullptr});
  }
  return result;
}

}  // namespace lathe
