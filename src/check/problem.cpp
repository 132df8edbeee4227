#include "check/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/code_pages.h"
#include "base/hash.h"
#include "check/compare_output.h"
#include "check/draw_data.h"
#include "check/error_bound.h"
#include "check/reference.h"
#include "check/stored.h"
#include "check/tolerance.h"
#include "measure/time_bounds.h"
#include "measure/timing.h"
#include "target/detect.h"

namespace lathe {
namespace {

// The fast reference sums in double like the evaluator; its order is another one.
constexpr double kReferenceTolerance = 1e-9;

// An Error where so many bytes are more than the machine has free for a comparison of these elements.
Status check_free(double bytes, const char* what) {
  const auto free = static_cast<double>(free_memory_bytes());
  if (bytes <= free) return {};
  return fail(ErrorKind::unsupported,
              fmt::format("checking {} takes {:.3g} GB of memory, and the machine has {:.3g} free", what,
                          bytes / 1e9, free / 1e9));
}

// Inputs are drawn as numbers; then they are kept as the bytes that a program reads, and lie beside its
// outputs in the memory that it sees.
Status check_memory(const Dag& dag) {
  double drawing = 0, running = 0;
  for (const Tensor& input : dag.inputs) {
    const auto elements = static_cast<double>(input.elements());
    const auto bytes = static_cast<double>(bytes_of(input->dtype)) * elements;
    drawing += sizeof(double) * elements + bytes;
    running += 2 * bytes;
  }
  for (const Tensor& output : dag.outputs)
    running += static_cast<double>(bytes_of(output->dtype)) * static_cast<double>(output.elements());
  return check_free(std::max(drawing, running), "a program of it");
}

// The reference reads inputs as they are stored, in the memory that its programs see, and gives all that it
// computes as doubles there and as numbers; what is an output is kept.
double bytes_in_full(const Dag& dag) {
  double elements = 0, stored = 0;
  for (const Tensor& input : dag.inputs)
    stored += static_cast<double>(bytes_of(input->dtype)) * static_cast<double>(input.elements());
  for (const Compute& compute : dag.computes) elements += static_cast<double>(2 * compute.output.elements());
  for (const Tensor& output : dag.outputs) elements += static_cast<double>(output.elements());
  return stored + sizeof(double) * elements;
}

}  // namespace

struct Problem::State {
  Task task;
  std::optional<double> tolerance;
  std::vector<StoredTensor> inputs;   // of the arguments that are no outputs
  std::vector<Reference> references;  // what was sampled of the outputs
  std::vector<Reference> all;         // every element of the outputs, once they were needed
  std::vector<HostTensor> numbers;    // the inputs that the bound reads
  std::optional<ErrorBound> bound;    // once an element seemed wrong

  std::vector<HostTensor> loaded() const {
    std::vector<HostTensor> tensors;
    for (const StoredTensor& input : inputs) tensors.push_back(load(input));
    return tensors;
  }
  double tolerance_of(const Trace& trace) const {
    return tolerance ? *tolerance : relative_tolerance(task.dag, trace);
  }
  // What an output's elements may be off, given the tolerance: in the proportion of that to the task's own,
  // by which an algorithm loses digits or a user asks for them. An Error (timeout) where the watch is over.
  ElementBound bound_of(const Tensor& output, double by, const Watch& watch);
  Status compare_sampled(const std::vector<Layout>& layouts,
                         std::span<const std::span<const std::byte>> outputs, double by, const Watch& watch);
  Status complete(CandidateRunner& runner, const Watch& watch);
  // A run of a program that is to be checked, which may be slow.
  MeasureInputs watched(MeasureInputs inputs, const Watch& watch) const;
};

ElementBound Problem::State::bound_of(const Tensor& output, double by, const Watch& watch) {
  const double proportion = by / relative_tolerance(task.dag, {});
  return [this, &output, proportion, &watch](int64_t position) -> Result<Approximate> {
    if (!bound) {
      numbers = loaded();
      bound.emplace(task.dag, numbers);
    }
    LATHE_TRY(Approximate element, bound->within(output, position, watch));
    element.error *= proportion;
    return element;
  };
}

Status Problem::State::compare_sampled(const std::vector<Layout>& layouts,
                                       std::span<const std::span<const std::byte>> outputs, double by,
                                       const Watch& watch) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Reference& points = references[i];
    LATHE_TRY_STATUS(compare_points(points, layouts[i], outputs[i], by, bound_of(points.tensor, by, watch)));
  }
  return {};
}

// What the fast reference gives is believed where the evaluator says the same of the sampled points.
Status Problem::State::complete(CandidateRunner& runner, const Watch& watch) {
  if (!all.empty()) return {};
  LATHE_TRY_STATUS(check_free(bytes_in_full(task.dag), "all elements of it"));
  LATHE_TRY(std::vector<HostTensor> outputs, compute_reference(task.dag, inputs, task.target, runner, watch));
  bool is_right = true;
  for (size_t i = 0; i < outputs.size() && is_right; ++i) {
    const Reference& points = references[i];
    LATHE_TRY(is_right, agrees(points, outputs[i].values, kReferenceTolerance,
                               bound_of(points.tensor, relative_tolerance(task.dag, {}), watch)));
  }
  if (!is_right) {
    LATHE_TRY(outputs, evaluate_within(task.dag, loaded(), watch));
  }
  for (size_t i = 0; i < outputs.size(); ++i)
    all.push_back({references[i].tensor, {}, std::move(outputs[i].values), references[i].terms});
  return {};
}

Problem::Problem(std::unique_ptr<State> state) : state_(std::move(state)) {}
Problem::Problem(Problem&&) noexcept = default;
Problem& Problem::operator=(Problem&&) noexcept = default;
Problem::~Problem() = default;

Result<Problem> Problem::create(const Task& task, const ProblemOptions& options, const Watch& watch) {
  LATHE_TRY_STATUS(check_memory(task.dag));
  LATHE_TRY(DrawnData drawn, draw_data(task.dag, options.seed, options.sampled_points, watch));
  auto state = std::make_unique<State>();
  state->task = task;
  state->tolerance = options.tolerance;
  for (HostTensor& input : drawn.inputs) {
    state->inputs.push_back(store(input));
    input.values = {};
  }
  state->references = std::move(drawn.references);
  return Problem(std::move(state));
}

int64_t Problem::bytes_of_data(const Task& task) {
  int64_t bytes = 0;
  for (const Tensor& input : task.dag.inputs) bytes += input.elements() * bytes_of(input->dtype);
  return bytes;
}

double Problem::bytes_to_compare(const Task& task) { return bytes_in_full(task.dag); }

double Problem::tolerance_of(const Trace& trace) const { return state_->tolerance_of(trace); }

MeasureInputs Problem::inputs_for(const Program& program, const Trace& trace, const Watch& watch) {
  MeasureInputs result;
  result.runs_cold = state_->task.runs_cold;
  result.timeout_seconds = candidate_limit_seconds(state_->task);
  std::vector<Layout> output_layouts;
  size_t place = 0;
  for (const Argument& argument : program.arguments) {
    if (argument.is_output) {
      output_layouts.push_back(argument.layout);
      result.buffers.emplace_back();
      continue;
    }
    const StoredTensor& input = state_->inputs[place];
    // The id must tell tasks apart too: the worker's memory outlives a task.
    const uint64_t id = Hasher()
                            .add(hash_of(state_->task))
                            .add(static_cast<uint64_t>(place))
                            .add(to_string(argument.layout))
                            .finish();
    const int64_t bytes = physical_elements(argument.layout, input.shape) * bytes_of(input.dtype);
    result.buffers.push_back({id, 1, bytes, [&input, layout = argument.layout](std::span<std::byte> to) {
                                write_stored(input, layout, to);
                              }});
    ++place;
  }
  for (size_t i = 0; i < program.prepared.size(); ++i) result.buffers.emplace_back();
  const double tolerance = state_->tolerance_of(trace);
  result.check = [this_state = state_.get(), output_layouts, tolerance,
                  watch](std::span<const std::span<const std::byte>> outputs) -> Status {
    return this_state->compare_sampled(output_layouts, outputs, tolerance, watch);
  };
  return result;
}

MeasureInputs Problem::State::watched(MeasureInputs inputs, const Watch& watch) const {
  inputs.timeout_seconds = program_limit_seconds(task);
  const double expected = fastest_seconds(task);
  inputs.stop = [&watch, expected, start = monotonic_seconds()] {
    if (watch.observer) watch.observer({"the program is run", monotonic_seconds() - start, expected});
    return watch.is_over();
  };
  return inputs;
}

Result<std::optional<MeasureFailure>> Problem::check_sampled(const Program& program, const Trace& trace,
                                                             const Module& module, CandidateRunner& runner,
                                                             const Watch& watch) {
  return runner.verify(module, state_->watched(inputs_for(program, trace, watch), watch));
}

namespace {

FullCheck unfinished(std::string why) {
  FullCheck check;
  check.unfinished = std::move(why);
  return check;
}

}  // namespace

Result<FullCheck> Problem::check_in_full(const Program& program, const Trace& trace, const Module& module,
                                         CandidateRunner& runner, const Watch& watch) {
  const Status completed = state_->complete(runner, watch);
  const bool is_beyond = !completed && (completed.error().kind == ErrorKind::timeout ||
                                        completed.error().kind == ErrorKind::unsupported);
  if (is_beyond) return unfinished(completed.error().message);
  LATHE_TRY_STATUS(completed);
  std::vector<Layout> layouts;
  for (const Argument& argument : program.arguments) {
    if (argument.is_output) layouts.push_back(argument.layout);
  }
  FullCheck found;
  found.tolerance = state_->tolerance_of(trace);
  MeasureInputs inputs = state_->watched(inputs_for(program, trace), watch);
  inputs.check = [&](std::span<const std::span<const std::byte>> outputs) -> Status {
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Reference& whole = state_->all[i];
      const Status right =
          compare_all(whole, layouts[i], outputs[i], found.tolerance,
                      state_->bound_of(whole.tensor, found.tolerance, watch), found.largest_difference);
      if (!right && right.error().kind == ErrorKind::timeout) found.unfinished = right.error().message;
      LATHE_TRY_STATUS(right);
    }
    return {};
  };
  release_code_pages();  // what compiled the program and its reference does not lie beside their data
  LATHE_TRY(found.failure, runner.verify(module, inputs));
  if (found.unfinished) return unfinished(*found.unfinished);
  if (found.failure && found.failure->kind == ErrorKind::timeout && watch.is_over())
    return unfinished("there is no time left to run the program");
  return found;
}

}  // namespace lathe
