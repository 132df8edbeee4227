#include "check/reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <variant>

#include "compile/compile.h"
#include "expr/loop_counts.h"
#include "expr/walk.h"
#include "loop/evaluate.h"
#include "measure/timing.h"
#include "schedule/apply.h"
#include "space/all.h"
#include "target/detect.h"
#include "task/task.h"

namespace lathe {
namespace {

// Below so many points a compute is evaluated sooner than it is compiled.
constexpr double kPointsWorthCompiling = 1 << 20;
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
bool is_narrow(DType dtype) { return is_float(dtype) && info_of(dtype).computed_in != DType::f64; }

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
    if (e.as<BitCast>() != nullptr) widens = false;
  });
  return widens;
}

// Gives each computed tensor of narrow floats its wide twin, always the same one. Inputs stay as they are,
// half as many bytes or fewer to write and to read, and are widened where they are read.
class Widener {
 public:
  explicit Widener(std::span<const Tensor> inputs) {
    for (const Tensor& input : inputs) twins_.emplace(input.get(), input);
  }

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
      if (const Literal* number = e.as<Literal>())
        return literal({DType::f64}, round_to(e.type().dtype, number->value));
      if (const Load* read = e.as<Load>()) {
        const Expr element = load((*this)(read->tensor), read->index);
        return is_narrow(element.type().dtype) ? cast({DType::f64}, element) : element;
      }
      if (const Cast* conversion = e.as<Cast>()) return cast({DType::f64}, conversion->operand);
      return {};
    };
    return rebuild(before_rounding(body), rewriter);
  }

 private:
  std::map<const TensorNode*, Tensor> twins_;
};

// What a tensor holds, as whoever has it keeps it: an input as its type does, or what was computed,
// row-major.
using Held = std::variant<const StoredTensor*, std::span<const double>>;
using Values = std::map<const TensorNode*, Held>;

HostTensor copy_of(const Tensor& tensor, const Held& held) {
  HostTensor copy{tensor->dtype, tensor->shape, {}};
  if (const auto* values = std::get_if<std::span<const double>>(&held))
    copy.values.assign(values->begin(), values->end());
  else
    copy.values = load(*std::get<const StoredTensor*>(held)).values;
  return copy;
}

// The operand as the machine code reads it.
MeasureInput stored_input(const Argument& operand, const Held& held) {
  const Tensor& tensor = operand.tensor;
  const int64_t bytes = physical_elements(operand.layout, tensor->shape) * bytes_of(tensor->dtype);
  return {0, 0, bytes, [tensor, held, layout = operand.layout](std::span<std::byte> to) {
            if (const auto* values = std::get_if<std::span<const double>>(&held))
              return write_stored(tensor->dtype, tensor->shape, *values, layout, to);
            write_stored(*std::get<const StoredTensor*>(held), layout, to);
          }};
}

// The model's own choice of a program of the compute as it stands, or the naive one.
Result<Program> program_of(const Task& task) {
  LATHE_TRY(const Space space, derive_space(task));
  const auto rewrites = [](const Step& step) { return std::holds_alternative<RewriteStep>(step); };
  for (const Point& point : space.preferred_points()) {
    const Result<Trace> trace = space.trace(point);
    if (!trace || std::ranges::any_of(*trace, rewrites)) continue;
    if (Result<Program> program = apply_trace(task, *trace)) return program;
  }
  return naive_program(task);
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
  const Result<Task> task = make_task("reference", dag, with_cores(target, 1), {}, true);
  if (!task) return std::nullopt;
  const Result<Program> program = program_of(*task);
  if (!program) return std::nullopt;
  const Result<Module> module = compile_program(*program, task->target);
  if (!module) return std::nullopt;
  MeasureInputs inputs;
  for (const Argument& operand : std::span(program->arguments).first(dag.inputs.size())) {
    inputs.buffers.push_back(stored_input(operand, values.at(operand.tensor.get())));
  }
  inputs.buffers.emplace_back();
  inputs.timeout_seconds = kLeastTimeoutSeconds + points_of(compute) / kSlowestPointsPerSecond;
  HostTensor result = zeros_like(compute.output);
  inputs.check = [&](std::span<const std::span<const std::byte>> outputs) -> Status {
    read_stored(result.dtype, result.shape, outputs.front(), program->arguments.back().layout, result.values);
    return {};
  };
  const int lanes = lanes_of(target, static_cast<int>(bytes_of(compute.output->dtype)));
  const double expected = points_of(compute) / (kPointsPerSecondOfLane * lanes);
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
  Widener widened(dag.inputs);
  Dag wide;
  wide.inputs = dag.inputs;
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
  return evaluate(dag, inputs, watch);
}

Result<std::vector<HostTensor>> compute_reference(const Dag& dag, std::span<const StoredTensor> inputs,
                                                  const Target& device, CandidateRunner& runner,
                                                  const Watch& watch) {
  const bool is_processor = std::holds_alternative<CpuTarget>(device.kind);
  LATHE_TRY(const Target target, is_processor ? device : detect_target());
  const std::optional<Dag> wide = in_double(dag);
  if (!wide || inputs.size() != dag.inputs.size()) {
    std::vector<HostTensor> numbers;
    for (const StoredTensor& input : inputs) numbers.push_back(load(input));
    return evaluate_within(dag, numbers, watch);
  }
  Values values;
  for (size_t i = 0; i < inputs.size(); ++i) values[wide->inputs[i].get()] = &inputs[i];
  std::map<const TensorNode*, HostTensor> computed;
  std::span<const Compute> left = wide->computes;
  for (const Compute& original : dag.computes) {
    const Compute& compute = left.front();
    LATHE_TRY(HostTensor result, compute_all(compute, values, target, runner, watch));
    const DType stored = original.output->dtype;
    if (is_storage_only(stored))
      for (double& value : result.values) value = round_to(stored, value);
    HostTensor& kept = computed[compute.output.get()] = std::move(result);
    values[compute.output.get()] = std::span<const double>(kept.values);
    left = left.subspan(1);
    std::erase_if(computed, [&](const auto& entry) { return !is_wanted(entry.first, left, wide->outputs); });
  }
  std::vector<HostTensor> outputs;
  for (size_t i = 0; i < wide->outputs.size(); ++i)
    outputs.push_back(copy_of(dag.outputs[i], values.at(wide->outputs[i].get())));
  return outputs;
}

}  // namespace lathe
