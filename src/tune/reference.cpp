#include "tune/reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/hash.h"
#include "compile/compile.h"
#include "expr/analysis.h"
#include "expr/walk.h"
#include "loop/evaluate.h"
#include "measure/timing.h"
#include "task/task.h"

namespace lathe {
namespace {

// Below so many points a compute is evaluated sooner than it is compiled.
constexpr double kPointsWorthCompiling = 1 << 20;
// Rows of a register tile: what one vector of the columns' operand is used for.
constexpr int64_t kTileRows = 6;
constexpr int64_t kTileVectors = 2;
// The least speed that a reference is waited for, and the time in any case.
constexpr double kSlowestPointsPerSecond = 2e7;
constexpr double kLeastTimeoutSeconds = 10;
// What a vector's lane and an evaluation are expected to do.
constexpr double kPointsPerSecondOfLane = 5e8;
constexpr double kEvaluatedPerSecond = 2e7;

// The tensors that a compute reads, each once, tables apart.
std::vector<Tensor> operands_of(const Compute& compute) {
  std::vector<Tensor> operands;
  for (const Load* load : loads_of(compute.body)) {
    const bool known = std::ranges::find(operands, load->tensor) != operands.end();
    if (!known && load->tensor->literal.empty()) operands.push_back(load->tensor);
  }
  return operands;
}

// Whether a double in its place is the same number, or a more exact one.
bool is_narrow(DType dtype) { return info_of(dtype).computed_in == DType::f32; }

// What is rounded as a compute's last operation is rounded by itself.
const Expr& before_rounding(const Expr& body) {
  const Cast* rounding = body.as<Cast>();
  return rounding != nullptr && is_storage_only(body.type().dtype) ? rounding->operand : body;
}

bool can_be_widened(const Compute& compute) {
  bool widens = compute.output->dtype != DType::f64;
  for_each(before_rounding(compute.body), [&](const Expr& e) {
    const DType dtype = e.type().dtype;
    const Load* read = e.as<Load>();
    if (dtype == DType::f64 || (is_storage_only(dtype) && read == nullptr)) widens = false;
    if (read != nullptr && !read->tensor->literal.empty()) widens = false;
  });
  return widens;
}

// Gives each tensor of narrow floats its wide twin, always the same one.
class Widener {
 public:
  Tensor operator()(const Tensor& tensor) {
    if (!is_narrow(tensor->dtype)) return tensor;
    const auto [entry, added] = twins_.try_emplace(tensor.get());
    if (added) entry->second = Tensor(tensor->name, tensor->shape, DType::f64);
    return entry->second;
  }

  Expr operator()(const Expr& body) {
    ExprRewriter rewriter;
    rewriter.rewrite = [this](const Expr& e) -> Expr {
      if (!is_narrow(e.type().dtype)) return {};
      if (const Literal* number = e.as<Literal>()) return literal({DType::f64}, number->value);
      if (const Load* read = e.as<Load>()) return load((*this)(read->tensor), read->index);
      if (const Cast* conversion = e.as<Cast>()) return cast({DType::f64}, conversion->operand);
      return {};
    };
    return rebuild(before_rounding(body), rewriter);
  }

 private:
  std::map<const TensorNode*, Tensor> twins_;
};

// What tensors hold, row-major; whoever has computed it keeps it.
using Values = std::map<const TensorNode*, std::span<const double>>;

HostTensor copy_of(const Tensor& tensor, std::span<const double> values) {
  return {tensor->dtype, tensor->shape, {values.begin(), values.end()}};
}

void write_stored(const Tensor& tensor, std::span<const double> values, const Layout& layout,
                  std::span<std::byte> bytes) {
  const auto store = [&]<class T>(std::type_identity<T>) {
    T* to = reinterpret_cast<T*>(bytes.data());
    for_each_offset(layout, tensor->shape, [&](int64_t position, int64_t offset) {
      to[offset] = static_cast<T>(values[static_cast<size_t>(position)]);
    });
  };
  visit_storage(tensor->dtype, store);
}

// The operand as the machine code reads it.
MeasureInput stored_input(const Argument& operand, std::span<const double> values) {
  const Tensor& tensor = operand.tensor;
  const uint64_t id = Hasher()
                          .add({reinterpret_cast<const char*>(values.data()), values.size_bytes()})
                          .add(to_string(operand.layout))
                          .add(to_string(tensor->dtype))
                          .finish();
  const int64_t bytes = tensor.elements() * bytes_of(tensor->dtype);
  return {id, 1, bytes, [tensor, values, layout = operand.layout](std::span<std::byte> to) {
            write_stored(tensor, values, layout, to);
          }};
}

// The axis along which vectors run, and for each operand the dimension that it walks there.
struct Columns {
  const Axis* axis = nullptr;
  std::vector<std::optional<size_t>> walked;  // in the order of operands_of; nothing: not made innermost
};

// The one dimension of each operand that the axis walks by single steps; nothing where it walks otherwise, as
// a window's stride does.
std::optional<std::vector<std::optional<size_t>>> walked_dimensions(const Compute& compute, const Var& axis) {
  std::vector<std::optional<size_t>> walked;
  const std::vector<const Load*> loads = loads_of(compute.body);
  for (const Tensor& operand : operands_of(compute)) {
    std::optional<size_t>& dimension = walked.emplace_back();
    for (const Load* read : loads) {
      if (!(read->tensor == operand)) continue;
      for (size_t d = 0; d < read->index.size(); ++d) {
        const Affine& index = read->index[d];
        if (!index.uses(axis)) continue;
        const bool by_single_steps = index.coefficient(axis) == 1 && !index.uses_inside_atom(axis);
        if (!by_single_steps || dimension.value_or(d) != d) return std::nullopt;
        dimension = d;
      }
    }
  }
  return walked;
}

// Of the axes that can be made the innermost in memory everywhere, the one that fills whole tiles best, the
// innermost of equals. Where there is none, the innermost of those that have more than one element.
Columns columns_of(const Compute& compute, int64_t tile) {
  Columns best;
  double most_filled = 0;
  const auto spatial = std::span(compute.axes).first(compute.spatial_count());
  for (const Axis& axis : spatial) {
    if (axis.extent > 1 && most_filled == 0) best = {&axis, {}};
    const int64_t tiles = (axis.extent + tile - 1) / tile;
    const double filled = static_cast<double>(axis.extent) / static_cast<double>(tiles * tile);
    if (axis.extent == 1 || filled < most_filled) continue;
    if (auto walked = walked_dimensions(compute, axis.var)) {
      best = {&axis, std::move(*walked)};
      most_filled = filled;
    }
  }
  return best;
}

Layout with_innermost(const Layout& layout, size_t dimension) {
  Layout moved = layout;
  std::rotate(moved.dims.begin() + static_cast<ptrdiff_t>(dimension),
              moved.dims.begin() + static_cast<ptrdiff_t>(dimension) + 1, moved.dims.end());
  return moved;
}

// The layouts in which the columns lie side by side, of the operands and the output.
void set_layouts(const Columns& columns, const Compute& compute, std::span<Argument> arguments) {
  if (columns.walked.empty()) return;
  for (size_t i = 0; i < columns.walked.size(); ++i) {
    if (columns.walked[i]) arguments[i].layout = with_innermost(arguments[i].layout, *columns.walked[i]);
  }
  Layout& output = arguments.back().layout;
  output = with_innermost(output, static_cast<size_t>(columns.axis - compute.axes.data()));
}

// The tile that one iteration of `loop` computes is stored once its sums are whole.
void keep_sums_in_registers(const std::string& block, const std::string& loop, const std::string& column,
                            const Axis* row, int64_t lanes, Trace& trace) {
  const std::string sums = block + ".acc";
  const std::string out = sums + ".out";
  trace.push_back(CacheWriteStep{block, sums, loop, Scope::registers});
  trace.push_back(SplitStep{out, column, {lanes}});
  if (row != nullptr) trace.push_back(AnnotateStep{out, row->var.name(), LoopKind::unrolled});
  trace.push_back(AnnotateStep{out, column + ".0", LoopKind::unrolled});
  trace.push_back(AnnotateStep{out, column + ".1", LoopKind::vectorized});
  trace.push_back(TailStep{out, column, Tail::mask});
}

// Whether the tiles' rows are the outermost loop: all other points pass while what few rows read stays in
// cache, and the rest is fetched once for each of their tiles. Otherwise what all rows read is fetched for
// each tile of the other points.
bool rows_go_first(const Compute& compute, const Axis& row, int64_t rows, double columns) {
  double by_rows = 0;  // elements that the rows index
  double by_others = 0;
  for (const Tensor& operand : operands_of(compute)) {
    const bool has_row = std::ranges::any_of(loads_of(compute.body), [&](const Load* read) {
      return read->tensor == operand &&
             std::ranges::any_of(read->index, [&](const Expr& index) { return uses(index, row.var); });
    });
    (has_row ? by_rows : by_others) += static_cast<double>(operand.elements());
  }
  const double other_points =
      static_cast<double>(compute.output.elements()) / (static_cast<double>(row.extent) * columns);
  return by_others * static_cast<double>(row.extent) / static_cast<double>(rows) < by_rows * other_points;
}

// The naive loops, tiled for registers: all rows of a tile use what its vectors hold.
Trace register_tiles(const Compute& compute, const Columns& columns, int64_t lanes) {
  const std::string& block = compute.output->name;
  const auto spatial = std::span(compute.axes).first(compute.spatial_count());
  const auto reduced = std::span(compute.axes).subspan(compute.spatial_count());
  if (columns.axis == nullptr) return {};
  const Axis& column = *columns.axis;
  const Axis* row = nullptr;
  for (const Axis& axis : spatial) {
    if (&axis != &column && axis.extent > 1 && (row == nullptr || axis.extent > row->extent)) row = &axis;
  }
  const auto part = [](const Axis& axis, const char* number) { return axis.var.name() + number; };
  const int64_t rows = row == nullptr ? 1 : std::min(kTileRows, row->extent);
  Trace trace{SplitStep{block, column.var.name(), {kTileVectors, lanes}}};
  if (row != nullptr) trace.push_back(SplitStep{block, row->var.name(), {rows}});
  const bool is_row_first =
      row != nullptr && rows_go_first(compute, *row, rows, static_cast<double>(kTileVectors * lanes));
  std::vector<std::string> order;
  if (is_row_first) order.push_back(part(*row, ".0"));
  for (const Axis& axis : spatial) {
    if (&axis != &column && &axis != row) order.push_back(axis.var.name());
  }
  order.push_back(part(column, ".0"));
  if (row != nullptr && !is_row_first) order.push_back(part(*row, ".0"));
  const std::string tile = order.back();
  for (const Axis& axis : reduced) order.push_back(axis.var.name());
  if (row != nullptr) order.push_back(part(*row, ".1"));
  order.insert(order.end(), {part(column, ".1"), part(column, ".2")});
  trace.push_back(ReorderStep{block, std::move(order)});
  if (row != nullptr) trace.push_back(AnnotateStep{block, part(*row, ".1"), LoopKind::unrolled});
  trace.push_back(AnnotateStep{block, part(column, ".1"), LoopKind::unrolled});
  trace.push_back(AnnotateStep{block, part(column, ".2"), LoopKind::vectorized});
  if (!reduced.empty()) keep_sums_in_registers(block, tile, column.var.name(), row, lanes, trace);
  if (row != nullptr) trace.push_back(TailStep{block, row->var.name(), Tail::peel});
  trace.push_back(TailStep{block, column.var.name(), Tail::mask});
  return trace;
}

void tell(const Watch& watch, const Compute& compute, double seconds, double expected) {
  if (watch.observer)
    watch.observer({fmt::format("the reference of {} is computed", compute.output->name), seconds, expected});
}

std::unexpected<Error> no_time(const Compute& compute) {
  return fail(ErrorKind::timeout,
              fmt::format("there is no time left to compute the reference of {}", compute.output->name));
}

// The compute's elements by machine code, or nothing where it does not compile or its run failed.
Result<std::optional<HostTensor>> run_compiled(const Dag& dag, const Values& values, const Target& target,
                                               CandidateRunner& runner, const Watch& watch) {
  const Compute& compute = dag.computes.front();
  if (compute.output->dtype != DType::f64) return std::nullopt;
  Result<Task> task = make_task("reference", dag, with_cores(target, 1));
  if (!task) return std::nullopt;
  const int64_t lanes = target.cpu().lanes(bytes_of(compute.output->dtype));
  const Columns columns = columns_of(compute, kTileVectors * lanes);
  set_layouts(columns, compute, task->arguments);
  const Result<Module> module = compile(*task, register_tiles(compute, columns, lanes));
  if (!module) return std::nullopt;
  MeasureInputs inputs;
  for (const Argument& operand : std::span(task->arguments).first(dag.inputs.size())) {
    inputs.buffers.push_back(stored_input(operand, values.at(operand.tensor.get())));
  }
  inputs.buffers.emplace_back();
  inputs.timeout_seconds = kLeastTimeoutSeconds + points_of(compute) / kSlowestPointsPerSecond;
  HostTensor result = zeros_like(compute.output);
  inputs.check = [&](std::span<const std::span<const std::byte>> outputs) -> Status {
    const auto* stored = reinterpret_cast<const double*>(outputs.front().data());
    for_each_offset(task->arguments.back().layout, result.shape, [&](int64_t position, int64_t offset) {
      result.values[static_cast<size_t>(position)] = stored[offset];
    });
    return {};
  };
  const double expected = points_of(compute) / (kPointsPerSecondOfLane * static_cast<double>(lanes));
  const double start = monotonic_seconds();
  inputs.stop = [&] {
    tell(watch, compute, monotonic_seconds() - start, expected);
    return watch.is_over();
  };
  tell(watch, compute, 0, expected);
  LATHE_TRY(const std::optional<MeasureFailure> failure, runner.verify(*module, inputs));
  if (failure && watch.is_over()) return no_time(compute);
  if (failure) return std::nullopt;
  return result;
}

Result<HostTensor> compute_all(const Compute& compute, const Values& values, const Target& target,
                               CandidateRunner& runner, const Watch& watch) {
  if (watch.is_over()) return no_time(compute);
  const Dag alone{operands_of(compute), {compute}, {compute.output}};
  if (points_of(compute) >= kPointsWorthCompiling) {
    LATHE_TRY(std::optional<HostTensor> result, run_compiled(alone, values, target, runner, watch));
    if (result) return std::move(*result);
  }
  std::vector<HostTensor> operands;
  for (const Tensor& operand : alone.inputs) operands.push_back(copy_of(operand, values.at(operand.get())));
  LATHE_TRY(std::vector<HostTensor> outputs, evaluate_within(alone, operands, watch));
  return std::move(outputs.front());
}

// Whether a compute that is left reads the tensor, or it is an output.
bool is_wanted(const TensorNode* tensor, std::span<const Compute> left, const std::vector<Tensor>& outputs) {
  const auto is_it = [&](const Tensor& other) { return other.get() == tensor; };
  return std::ranges::any_of(outputs, is_it) || std::ranges::any_of(left, [&](const Compute& compute) {
           return std::ranges::any_of(operands_of(compute), is_it);
         });
}

}  // namespace

std::optional<Dag> in_double(const Dag& dag) {
  const auto is_wide = [](const Tensor& tensor) { return tensor->dtype == DType::f64; };
  if (std::ranges::any_of(dag.inputs, is_wide)) return std::nullopt;
  if (!std::ranges::all_of(dag.computes, can_be_widened)) return std::nullopt;
  Widener widened;
  Dag wide;
  for (const Tensor& input : dag.inputs) wide.inputs.push_back(widened(input));
  for (const Compute& compute : dag.computes) {
    wide.computes.push_back(
        {widened(compute.output), compute.axes, compute.reduction, widened(compute.body)});
  }
  for (const Tensor& output : dag.outputs) wide.outputs.push_back(widened(output));
  if (!verify(wide)) return std::nullopt;
  return wide;
}

Result<std::vector<HostTensor>> evaluate_within(const Dag& dag, std::span<const HostTensor> inputs,
                                                const Watch& watch) {
  for (const Compute& compute : dag.computes) {
    const double expected = points_of(compute) / kEvaluatedPerSecond;
    if (expected > watch.deadline.seconds_left()) return no_time(compute);
    if (points_of(compute) >= kPointsWorthCompiling) tell(watch, compute, 0, expected);
  }
  return evaluate(dag, inputs);
}

Result<std::vector<HostTensor>> compute_reference(const Dag& dag, std::span<const HostTensor> inputs,
                                                  const Target& target, CandidateRunner& runner,
                                                  const Watch& watch) {
  const std::optional<Dag> wide = in_double(dag);
  if (!wide || inputs.size() != dag.inputs.size()) return evaluate_within(dag, inputs, watch);
  Values values;
  for (size_t i = 0; i < inputs.size(); ++i) values[wide->inputs[i].get()] = inputs[i].values;
  std::map<const TensorNode*, HostTensor> computed;
  std::span<const Compute> left = wide->computes;
  for (const Compute& original : dag.computes) {
    const Compute& compute = left.front();
    LATHE_TRY(HostTensor result, compute_all(compute, values, target, runner, watch));
    const DType stored = original.output->dtype;
    if (is_storage_only(stored))
      for (double& value : result.values) value = round_to(stored, value);
    HostTensor& kept = computed[compute.output.get()] = std::move(result);
    values[compute.output.get()] = kept.values;
    left = left.subspan(1);
    std::erase_if(computed, [&](const auto& entry) { return !is_wanted(entry.first, left, wide->outputs); });
  }
  std::vector<HostTensor> outputs;
  for (size_t i = 0; i < wide->outputs.size(); ++i)
    outputs.push_back(copy_of(dag.outputs[i], values.at(wide->outputs[i].get())));
  return outputs;
}

}  // namespace lathe
