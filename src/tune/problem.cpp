#include "tune/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "base/code_pages.h"
#include "base/hash.h"
#include "expr/walk.h"
#include "loop/evaluate.h"
#include "measure/timing.h"
#include "target/detect.h"
#include "tune/compare_output.h"
#include "tune/draw_data.h"
#include "tune/reference.h"
#include "tune/sensitivity.h"
#include "tune/term_squares.h"
#include "tune/time_bounds.h"

namespace lathe {
namespace {

template <class T>
void write_in_layout(const HostTensor& tensor, const Layout& layout, T padding, std::span<std::byte> to) {
  const auto store = [&](size_t offset, T value) {
    std::memcpy(to.data() + offset * sizeof(T), &value, sizeof(T));
  };
  const size_t elements = to.size() / sizeof(T);
  for (size_t i = 0; elements > tensor.values.size() && i < elements; ++i) store(i, padding);
  for_each_offset(layout, tensor.shape, [&](int64_t position, int64_t offset) {
    store(static_cast<size_t>(offset), static_cast<T>(tensor.values[static_cast<size_t>(position)]));
  });
}

// Block padding holds NaN: a program that lets it into a result is found out.
void write_in_layout(const HostTensor& tensor, const Layout& layout, std::span<std::byte> to) {
  visit_storage(tensor.dtype, [&]<class T>(std::type_identity<T>) {
    write_in_layout<T>(tensor, layout, static_cast<T>(is_float(tensor.dtype) ? NAN : 0.0), to);
  });
}

// The fast reference sums in double like the evaluator; its order is another one.
constexpr double kReferenceTolerance = 1e-9;

}  // namespace

struct Problem::State {
  Task task;
  std::optional<double> tolerance;
  std::vector<HostTensor> inputs;  // of the arguments that are no outputs
  std::vector<Reference> references;
  bool steady = false;         // what was sampled of the outputs
  std::vector<Reference> all;  // every element of the outputs, once they were needed
  bool reference_is_right = true;
  bool has_slack = false;          // whether `all` knows what floats hang on roundings
  bool has_sampled_slack = false;  // whether `references` does

  double tolerance_of(const Trace& trace) const {
    return tolerance ? *tolerance : relative_tolerance(task.dag, trace);
  }
  Status compare_sampled(const std::vector<Layout>& layouts,
                         std::span<const std::span<const std::byte>> outputs, double tolerance);
  Status learn_sampled_slack();
  Status complete(CandidateRunner& runner, const Watch& watch);
  // The outputs of a Dag over the task's inputs for these, computed as `all` was.
  Result<std::vector<HostTensor>> outputs_of(const Dag& dag, const std::vector<HostTensor>& others,
                                             CandidateRunner& runner, const Watch& watch) const;
  // Learns what a rounding of the inputs does to the outputs of floats, or to the others.
  Status learn_sensitivity(std::vector<Reference>& whole, bool of_floats, CandidateRunner& runner,
                           const Watch& watch) const;
  Status note_cancellations(std::vector<Reference>& whole, CandidateRunner& runner, const Watch& watch) const;
  // A run of a program that is to be checked, which may be slow.
  MeasureInputs watched(MeasureInputs inputs, const Watch& watch) const;
};

// To learn what hangs on roundings takes many times the work of the reference, and most programs are within
// the tolerance anyway: it is done for the first that is not.
Status Problem::State::compare_sampled(const std::vector<Layout>& layouts,
                                       std::span<const std::span<const std::byte>> outputs,
                                       double tolerance) {
  const auto compare = [&]() -> Status {
    for (size_t i = 0; i < outputs.size(); ++i)
      LATHE_TRY_STATUS(compare_points(references[i], layouts[i], outputs[i], tolerance));
    return {};
  };
  const Status right = compare();
  if (right || has_sampled_slack) return right;
  LATHE_TRY_STATUS(learn_sampled_slack());
  return compare();
}

Status Problem::State::learn_sampled_slack() {
  has_sampled_slack = true;
  return learn_slack(task.dag, inputs, references, tolerance_of({}));
}

// What the fast reference gives is believed where the evaluator says the same of the sampled points.
Status Problem::State::complete(CandidateRunner& runner, const Watch& watch) {
  if (!all.empty()) return {};
  LATHE_TRY(std::vector<HostTensor> outputs, compute_reference(task.dag, inputs, task.target, runner, watch));
  const auto all_agree = [&] {
    return std::ranges::equal(references, outputs, [](const Reference& points, const HostTensor& whole) {
      return agrees(points, whole.values, kReferenceTolerance);
    });
  };
  // Of what cancels, another order of the sums leaves something else.
  if (!all_agree() && !has_sampled_slack) LATHE_TRY_STATUS(learn_sampled_slack());
  reference_is_right = all_agree();
  if (!reference_is_right) {
    LATHE_TRY(outputs, evaluate_within(task.dag, inputs, watch));
  }
  std::vector<Reference> whole;
  for (size_t i = 0; i < outputs.size(); ++i) {
    whole.push_back({references[i].tensor, {}, std::move(outputs[i].values)});
    whole.back().terms = references[i].terms;
  }
  if (may_hang_on_rounding(task.dag)) LATHE_TRY_STATUS(learn_sensitivity(whole, false, runner, watch));
  if (has_jumps(task.dag) || (has_poles(task.dag) && !steady)) {
    LATHE_TRY_STATUS(learn_sensitivity(whole, true, runner, watch));
    has_slack = true;
  }
  all = std::move(whole);
  return {};
}

Result<std::vector<HostTensor>> Problem::State::outputs_of(const Dag& dag,
                                                           const std::vector<HostTensor>& others,
                                                           CandidateRunner& runner,
                                                           const Watch& watch) const {
  if (!reference_is_right) return evaluate_within(dag, others, watch);
  return compute_reference(dag, others, task.target, runner, watch);
}

Status Problem::State::learn_sensitivity(std::vector<Reference>& whole, bool of_floats,
                                         CandidateRunner& runner, const Watch& watch) const {
  const auto is_meant = [&](const Reference& r) { return is_float(r.tensor->dtype) == of_floats; };
  if (std::ranges::none_of(whole, is_meant)) return {};
  if (of_floats && !has_jumps(task.dag)) LATHE_TRY_STATUS(note_cancellations(whole, runner, watch));
  const int neighbours = of_floats ? kFloatNeighbours : kIntegerNeighbours;
  for (int number = 0; number < neighbours; ++number) {
    LATHE_TRY(const std::vector<HostTensor> moved,
              outputs_of(neighbour_of(task.dag, whole, number), neighbours_of(task.dag, inputs, number),
                         runner, watch));
    for (size_t i = 0; i < whole.size(); ++i) {
      if (is_meant(whole[i])) add_neighbour(whole[i], moved[i].values);
    }
  }
  if (!of_floats) return {};
  for (Reference& reference : whole) {
    finish_slack(task.dag, reference, tolerance_of({}));
    forget_what_says_little(reference);
  }
  return {};
}

Status Problem::State::note_cancellations(std::vector<Reference>& whole, CandidateRunner& runner,
                                          const Watch& watch) const {
  LATHE_TRY(const std::vector<HostTensor> squares, outputs_of(term_squares(task.dag), inputs, runner, watch));
  auto of_output = squares.begin();
  for (Reference& reference : whole) {
    if (is_float(reference.tensor->dtype)) note_cancellation(reference, (of_output++)->values);
  }
  return {};
}

Problem::Problem(std::unique_ptr<State> state) : state_(std::move(state)) {}
Problem::Problem(Problem&&) noexcept = default;
Problem& Problem::operator=(Problem&&) noexcept = default;
Problem::~Problem() = default;

std::vector<int64_t> points_to_check(const std::vector<int64_t>& shape, int64_t count, Rng& rng) {
  const int64_t elements = std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
  std::vector<int64_t> positions;
  if (elements <= count) {
    positions.resize(static_cast<size_t>(elements));
    std::iota(positions.begin(), positions.end(), 0);
    return positions;
  }
  // A third of the points have some coordinates pushed to an edge, where tiles end.
  for (int64_t i = 0; i < count; ++i) {
    int64_t position = 0;
    for (int64_t extent : shape) {
      int64_t coordinate = rng.between(0, extent - 1);
      if (i % 3 == 0 && rng.chance(0.5))
        coordinate = rng.chance(0.5) ? 0 : extent - 1 - rng.between(0, std::min<int64_t>(extent - 1, 2));
      position = position * extent + coordinate;
    }
    positions.push_back(position);
  }
  for (uint64_t corner = 0; corner < (uint64_t{1} << std::min<size_t>(shape.size(), 6)); ++corner) {
    int64_t position = 0;
    for (size_t d = 0; d < shape.size(); ++d) {
      position = position * shape[d] + ((corner >> d) % 2 != 0 ? shape[d] - 1 : 0);
    }
    positions.push_back(position);
  }
  std::ranges::sort(positions);
  positions.erase(std::ranges::unique(positions).begin(), positions.end());
  return positions;
}

namespace {

// Those that a body writes out, of integers too.
double additions_of(const Expr& body) {
  double additions = 0;
  for_each(body, [&](const Expr& e) {
    const Binary* binary = e.as<Binary>();
    if (binary != nullptr && (binary->op == BinaryOp::add || binary->op == BinaryOp::sub)) ++additions;
  });
  return additions;
}

}  // namespace

double longest_sum(const Dag& dag) {
  double longest = 1;
  for (const Compute& compute : dag.computes) {
    double reduction = 1;
    for (size_t r = compute.spatial_count(); r < compute.axes.size(); ++r)
      reduction *= static_cast<double>(compute.axes[r].extent);
    longest = std::max({longest, reduction, additions_of(compute.body)});
  }
  return longest;
}

double relative_tolerance(const Dag& dag, const Trace& trace) {
  // Of a sum in double, to that in float; the reference, which is in double too, is off as far.
  constexpr double kDoubleTolerance = 0x1p-28;
  double tolerance = 2e-6 + 4e-7 * std::sqrt(longest_sum(dag));
  if (is_in_double(dag)) tolerance *= kDoubleTolerance;
  // What was about to be rounded either way may come to either neighbour.
  for (const Compute& compute : dag.computes)
    if (is_storage_only(compute.output->dtype)) tolerance += epsilon_of(compute.output->dtype);
  for (const Step& step : trace) {
    const RewriteStep* rewrite = std::get_if<RewriteStep>(&step);
    if (rewrite != nullptr && rewrite->rule == "winograd") tolerance *= 10;
  }
  return tolerance;
}

// A program is checked on inputs that are kept as numbers and as the bytes that it reads; its outputs lie
// beside these.
Status check_memory(const Dag& dag) {
  double bytes = 0;
  for (const Tensor& input : dag.inputs) {
    bytes += static_cast<double>(8 + bytes_of(input->dtype)) * static_cast<double>(input.elements());
  }
  for (const Tensor& output : dag.outputs) {
    bytes += static_cast<double>(bytes_of(output->dtype)) * static_cast<double>(output.elements());
  }
  const auto there = static_cast<double>(memory_bytes());
  if (bytes <= there) return {};
  return fail(ErrorKind::unsupported,
              fmt::format("checking a program of it takes {:.3g} GB of memory, and the machine has {:.3g}",
                          bytes / 1e9, there / 1e9));
}

Result<Problem> Problem::create(const Task& task, const ProblemOptions& options, const Watch& watch) {
  LATHE_TRY_STATUS(check_memory(task.dag));
  LATHE_TRY(DrawnData drawn, draw_data(task.dag, options, watch));
  auto state = std::make_unique<State>();
  state->task = task;
  state->tolerance = options.tolerance;
  state->inputs = std::move(drawn.inputs);
  state->references = std::move(drawn.references);
  state->steady = drawn.steady;
  state->has_sampled_slack = std::ranges::any_of(
      state->references, [](const Reference& reference) { return !reference.slack.empty(); });
  return Problem(std::move(state));
}

double Problem::tolerance_of(const Trace& trace) const { return state_->tolerance_of(trace); }

MeasureInputs Problem::inputs_for(const Program& program, const Trace& trace) {
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
    const HostTensor& input = state_->inputs[place];
    // The id must tell tasks apart too: the worker's memory outlives a task.
    const uint64_t id = Hasher()
                            .add(hash_of(state_->task))
                            .add(static_cast<uint64_t>(place))
                            .add(to_string(argument.layout))
                            .finish();
    const int64_t bytes = physical_elements(argument.layout, input.shape) * bytes_of(input.dtype);
    result.buffers.push_back({id, 1, bytes, [&input, layout = argument.layout](std::span<std::byte> to) {
                                write_in_layout(input, layout, to);
                              }});
    ++place;
  }
  for (size_t i = 0; i < program.prepared.size(); ++i) result.buffers.emplace_back();
  const double tolerance = state_->tolerance_of(trace);
  result.check = [this_state = state_.get(), output_layouts,
                  tolerance](std::span<const std::span<const std::byte>> outputs) -> Status {
    return this_state->compare_sampled(output_layouts, outputs, tolerance);
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
  return runner.verify(module, state_->watched(inputs_for(program, trace), watch));
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
  if (!completed && completed.error().kind == ErrorKind::timeout)
    return unfinished(completed.error().message);
  LATHE_TRY_STATUS(completed);
  std::vector<Layout> layouts;
  for (const Argument& argument : program.arguments) {
    if (argument.is_output) layouts.push_back(argument.layout);
  }
  FullCheck found;
  found.tolerance = state_->tolerance_of(trace);
  const auto compare = [&](std::span<const std::span<const std::byte>> outputs) -> Status {
    found.largest_difference = 0;
    for (size_t i = 0; i < outputs.size(); ++i) {
      LATHE_TRY_STATUS(
          compare_all(state_->all[i], layouts[i], outputs[i], found.tolerance, found.largest_difference));
    }
    return {};
  };
  std::vector<std::vector<std::byte>> wrong;  // the outputs, where they seem so
  MeasureInputs inputs = state_->watched(inputs_for(program, trace), watch);
  inputs.check = [&](std::span<const std::span<const std::byte>> outputs) -> Status {
    const Status right = compare(outputs);
    for (size_t i = 0; !right && i < outputs.size(); ++i)
      wrong.emplace_back(outputs[i].begin(), outputs[i].end());
    return right;
  };
  release_code_pages();  // what compiled the program and its reference does not lie beside their data
  LATHE_TRY(found.failure, runner.verify(module, inputs));
  if (found.failure && found.failure->kind == ErrorKind::timeout && watch.is_over())
    return unfinished("there is no time left to run the program");
  if (wrong.empty() || state_->has_slack) return found;
  // Among more elements than were sampled there may be one beside a pole or a step, or where large terms
  // cancel. It is asked of those programs alone that seem wrong (compare_sampled).
  std::vector<Reference> learnt = state_->all;
  const Status learned = state_->learn_sensitivity(learnt, true, runner, watch);
  if (!learned && learned.error().kind == ErrorKind::timeout)
    return unfinished(
        "some elements differ by more than the tolerance, and there is no time left to tell whether "
        "roundings explain it");
  LATHE_TRY_STATUS(learned);
  state_->all = std::move(learnt);
  state_->has_slack = true;
  const Status right = compare(std::vector<std::span<const std::byte>>(wrong.begin(), wrong.end()));
  found.failure.reset();
  if (!right) found.failure = MeasureFailure{right.error().kind, right.error().to_string()};
  return found;
}

}  // namespace lathe
