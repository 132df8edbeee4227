#include "tune/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <set>

#include "base/hash.h"
#include "expr/index_limit.h"
#include "expr/walk.h"
#include "loop/evaluate.h"
#include "target/detect.h"
#include "tune/reference.h"

namespace lathe {
namespace {

template <class T>
std::vector<std::byte> bytes_in_layout(const HostTensor& tensor, const Layout& layout, T padding) {
  const std::vector<T> logical(tensor.values.begin(), tensor.values.end());
  const std::vector<T> storage = pack<T>(layout, tensor.shape, logical, padding);
  std::vector<std::byte> bytes(storage.size() * sizeof(T));
  std::memcpy(bytes.data(), storage.data(), bytes.size());
  return bytes;
}

// Block padding holds NaN: a program that lets it into a result is found out.
std::vector<std::byte> bytes_in_layout(const HostTensor& tensor, const Layout& layout) {
  switch (tensor.dtype) {
    case DType::f32: return bytes_in_layout<float>(tensor, layout, NAN);
    case DType::f64: return bytes_in_layout<double>(tensor, layout, NAN);
    case DType::i64: return bytes_in_layout<int64_t>(tensor, layout, 0);
    case DType::i32: return bytes_in_layout<int32_t>(tensor, layout, 0);
    case DType::f16:
    case DType::bf16: return bytes_in_layout<uint16_t>(tensor, layout, 0);
    case DType::i8:
    case DType::boolean: return bytes_in_layout<int8_t>(tensor, layout, 0);
  }
  return {};
}

// What is compared of one output.
struct Reference {
  Tensor tensor;
  std::vector<int64_t> positions;  // row-major
  std::vector<double> expected;
  double magnitude = 0;  // the largest of `expected`
};

std::string index_text(std::span<const int64_t> shape, int64_t position) {
  std::string text;
  for (size_t d = shape.size(); d-- > 0;) {
    text = fmt::format("{}{}{}", position % shape[d], text.empty() ? "" : ", ", text);
    position /= shape[d];
  }
  return "[" + text + "]";
}

std::vector<int64_t> unravel(std::span<const int64_t> shape, int64_t position) {
  std::vector<int64_t> index(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    index[d] = position % shape[d];
    position /= shape[d];
  }
  return index;
}

std::unexpected<Error> wrong_element(const Tensor& tensor, int64_t position, double expected, double got) {
  return fail(ErrorKind::wrong_result, fmt::format("{}{} is {} where the reference is {}", tensor->name,
                                                   index_text(tensor->shape, position), got, expected));
}

const float* elements_of(std::span<const std::byte> bytes) {
  return reinterpret_cast<const float*>(bytes.data());
}

Status check_points(const Reference& reference, const Layout& layout, std::span<const std::byte> bytes,
                    double tolerance) {
  const float* values = elements_of(bytes);
  const std::vector<int64_t>& shape = reference.tensor->shape;
  for (size_t i = 0; i < reference.positions.size(); ++i) {
    const int64_t position = reference.positions[i];
    const double got = values[flatten(layout, shape, unravel(shape, position))];
    const double difference = std::abs(got - reference.expected[i]);
    if (!(difference <= tolerance * reference.magnitude))
      return wrong_element(reference.tensor, position, reference.expected[i], got);
  }
  // Outputs start as NaN: whatever still is one was never written.
  int64_t unwritten = -1;
  for_each_offset(layout, shape, [&](int64_t position, int64_t offset) {
    if (std::isnan(values[offset])) unwritten = position;
  });
  if (unwritten >= 0) return wrong_element(reference.tensor, unwritten, 0, NAN);
  return {};
}

double largest_magnitude(std::span<const double> values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

// The error names the element that is furthest off.
Status check_all(const Tensor& tensor, std::span<const double> expected, const Layout& layout,
                 std::span<const std::byte> bytes, FullCheck& found) {
  const float* values = elements_of(bytes);
  const double magnitude = largest_magnitude(expected);
  double worst = -1;
  int64_t worst_position = 0;
  float worst_value = 0;
  for_each_offset(layout, tensor->shape, [&](int64_t position, int64_t offset) {
    const double difference = std::abs(values[offset] - expected[static_cast<size_t>(position)]);
    if (difference <= worst) return;
    worst = std::isnan(difference) ? INFINITY : difference;
    worst_position = position;
    worst_value = values[offset];
  });
  const double share = worst <= 0 ? 0 : worst / magnitude;
  found.largest_difference = std::max(found.largest_difference, share);
  if (worst <= found.tolerance * magnitude) return {};
  return wrong_element(tensor, worst_position, expected[static_cast<size_t>(worst_position)], worst_value);
}

// The fast reference sums in double like the evaluator; its order is another one.
constexpr double kReferenceTolerance = 1e-9;

bool agrees(const Reference& points, const HostTensor& all) {
  for (size_t i = 0; i < points.positions.size(); ++i) {
    const double difference =
        std::abs(all.values[static_cast<size_t>(points.positions[i])] - points.expected[i]);
    if (!(difference <= kReferenceTolerance * points.magnitude)) return false;
  }
  return true;
}

// Candidates are compiled and compared for these types alone.
Status check_types(const Dag& dag) {
  for (const Tensor& input : dag.inputs) {
    if (input->dtype != DType::f16 && input->dtype != DType::bf16) continue;
    return fail(ErrorKind::unsupported,
                fmt::format("input '{}' is {}, for which no code can be generated yet", input->name,
                            to_string(input->dtype)));
  }
  for (const Tensor& output : dag.outputs) {
    if (output->dtype == DType::f32) continue;
    return fail(ErrorKind::unsupported, fmt::format("output '{}' is {}; results of type f32 can be tuned",
                                                    output->name, to_string(output->dtype)));
  }
  return {};
}

bool is_finite(const Reference& reference) {
  return std::ranges::all_of(reference.expected, [](double value) { return std::isfinite(value); });
}

// No positive one is so small that its reciprocal outweighs all other elements.
constexpr double kLeastPositive = 1.0 / 1024;

std::vector<HostTensor> draw_inputs(const Dag& dag, Rng& rng, bool positive) {
  std::vector<HostTensor> inputs;
  const std::vector<Interval> indices = index_values(dag);
  for (const Tensor& input : dag.inputs) {
    HostTensor& drawn = inputs.emplace_back(random_within(input, rng, indices[inputs.size()]));
    if (!positive || !is_float(drawn.dtype)) continue;
    for (double& value : drawn.values) value = std::max(std::abs(value), kLeastPositive);
  }
  return inputs;
}

// Inputs, and what is compared of the outputs.
struct Draw {
  std::vector<HostTensor> inputs;
  std::vector<Reference> references;
};

Result<std::vector<Reference>> sample_references(const Dag& dag, std::span<const HostTensor> inputs,
                                                 int64_t sampled_points, Rng& rng) {
  LATHE_TRY(Evaluator evaluator, Evaluator::create(dag, inputs));
  std::vector<Reference> references;
  for (const Tensor& output : dag.outputs) {
    Reference reference{output, points_to_check(output->shape, sampled_points, rng), {}, 0};
    for (int64_t position : reference.positions) {
      reference.expected.push_back(evaluator.at(output, position));
      reference.magnitude = std::max(reference.magnitude, std::abs(reference.expected.back()));
    }
    references.push_back(std::move(reference));
  }
  return references;
}

Result<Draw> draw(const Dag& dag, const ProblemOptions& options, uint64_t seed, bool positive) {
  Rng rng(seed);
  Draw drawn;
  drawn.inputs = draw_inputs(dag, rng, positive);
  LATHE_TRY(drawn.references, sample_references(dag, drawn.inputs, options.sampled_points, rng));
  return drawn;
}

// Of more values one at least is as large as its terms.
constexpr size_t kFewValues = 8;
constexpr double kNudge = 0x1p-22;  // some roundings of f32

// As an output of few elements has, or one that repeats them.
bool has_few_values(const Reference& reference) {
  const std::set<double> values(reference.expected.begin(), reference.expected.end());
  return values.size() <= kFewValues;
}

// Whether outputs stay where they are when the inputs move by a rounding. Those of few values need not:
// where large terms happen to cancel, what rounding leaves of the result is no fault of the program.
Result<bool> is_steady(const Dag& dag, const Draw& drawn, uint64_t seed) {
  if (std::ranges::none_of(drawn.references, has_few_values)) return true;
  Rng rng(seed);
  std::vector<HostTensor> nudged = drawn.inputs;
  for (HostTensor& input : nudged) {
    if (!is_float(input.dtype)) continue;
    for (double& value : input.values) value *= rng.chance(0.5) ? 1 + kNudge : 1 - kNudge;
  }
  LATHE_TRY(Evaluator evaluator, Evaluator::create(dag, nudged));
  const double allowed = relative_tolerance(dag, {}) / 2;
  for (const Reference& reference : drawn.references) {
    if (!has_few_values(reference)) continue;
    for (size_t i = 0; i < reference.positions.size(); ++i) {
      const double moved = evaluator.at(reference.tensor, reference.positions[i]) - reference.expected[i];
      if (!(std::abs(moved) <= allowed * reference.magnitude)) return false;
    }
  }
  return true;
}

}  // namespace

struct Problem::State {
  Task task;
  std::optional<double> tolerance;
  std::vector<HostTensor> inputs;  // of the arguments that are no outputs
  std::vector<Reference> references;
  // Inputs as laid out, by place and layout; their ids are the same for the same bytes.
  std::map<std::pair<size_t, std::string>, std::vector<std::byte>> packed;
  std::vector<HostTensor> all;  // every element of the outputs, once they were needed

  double tolerance_of(const Trace& trace) const {
    return tolerance ? *tolerance : relative_tolerance(task.dag, trace);
  }
  Status complete(CandidateRunner& runner);
};

// What the fast reference gives is believed where the evaluator says the same of the sampled points.
Status Problem::State::complete(CandidateRunner& runner) {
  if (!all.empty()) return {};
  LATHE_TRY(std::vector<HostTensor> outputs, compute_reference(task.dag, inputs, task.target, runner));
  bool is_right = true;
  for (size_t i = 0; i < outputs.size(); ++i) is_right = is_right && agrees(references[i], outputs[i]);
  if (!is_right) {
    LATHE_TRY(outputs, evaluate(task.dag, inputs));
  }
  all = std::move(outputs);
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

double relative_tolerance(const Dag& dag, const Trace& trace) {
  double longest = 1;
  for (const Compute& compute : dag.computes) {
    double reduction = 1;
    for (size_t r = compute.spatial_count(); r < compute.axes.size(); ++r)
      reduction *= static_cast<double>(compute.axes[r].extent);
    longest = std::max({longest, reduction, additions_of(compute.body)});
  }
  double tolerance = 2e-6 + 4e-7 * std::sqrt(longest);
  for (const Step& step : trace) {
    const RewriteStep* rewrite = std::get_if<RewriteStep>(&step);
    if (rewrite != nullptr && rewrite->rule == "winograd") tolerance *= 10;
  }
  return tolerance;
}

// A program is checked on inputs that are kept as numbers, as the bytes that it reads, and as the copy that
// the measuring process has; its outputs lie there too.
Status check_memory(const Dag& dag) {
  constexpr double kBytesAnInput = 8 + 4 + 4;
  constexpr double kBytesAnOutput = 4;
  double bytes = 0;
  for (const Tensor& input : dag.inputs) bytes += kBytesAnInput * static_cast<double>(input.elements());
  for (const Tensor& output : dag.outputs) bytes += kBytesAnOutput * static_cast<double>(output.elements());
  const auto there = static_cast<double>(memory_bytes());
  if (bytes <= there) return {};
  return fail(ErrorKind::unsupported,
              fmt::format("checking a program of it takes {:.3g} GB of memory, and the machine has {:.3g}",
                          bytes / 1e9, there / 1e9));
}

// Random floats lie on both sides of zero. Where a result of them is no number (a square root, a logarithm),
// the same are drawn again with their magnitudes alone; where it is unsteady, others are.
Result<Problem> Problem::create(const Task& task, const ProblemOptions& options) {
  constexpr uint64_t kDraws = 4;
  LATHE_TRY_STATUS(check_types(task.dag));
  LATHE_TRY_STATUS(check_memory(task.dag));
  std::optional<Draw> chosen;
  std::string broken;
  bool steady = false;
  for (const bool positive : {false, true}) {
    for (uint64_t seed = options.seed; seed < options.seed + kDraws && !steady; ++seed) {
      LATHE_TRY(Draw drawn, draw(task.dag, options, seed, positive));
      const auto unusable = std::ranges::find_if_not(drawn.references, is_finite);
      if (unusable != drawn.references.end()) {
        broken = unusable->tensor->name;
        break;
      }
      LATHE_TRY(steady, is_steady(task.dag, drawn, seed));
      if (steady || !chosen) chosen = std::move(drawn);
    }
  }
  if (!chosen) {
    return fail(ErrorKind::unsupported,
                fmt::format("output '{}' is infinite or no number for random inputs: programs cannot be "
                            "compared",
                            broken));
  }
  auto state = std::make_unique<State>();
  state->task = task;
  state->tolerance = options.tolerance;
  state->inputs = std::move(chosen->inputs);
  state->references = std::move(chosen->references);
  return Problem(std::move(state));
}

double Problem::tolerance_of(const Trace& trace) const { return state_->tolerance_of(trace); }

MeasureInputs Problem::inputs_for(const Program& program, const Trace& trace) {
  MeasureInputs result;
  result.runs_cold = state_->task.runs_cold;
  std::vector<Layout> output_layouts;
  size_t place = 0;
  for (const Argument& argument : program.arguments) {
    if (argument.is_output) {
      output_layouts.push_back(argument.layout);
      result.buffers.emplace_back();
      continue;
    }
    const std::string layout = to_string(argument.layout);
    auto [entry, added] = state_->packed.try_emplace({place, layout});
    if (added) entry->second = bytes_in_layout(state_->inputs[place], argument.layout);
    // The id must tell tasks apart too: the worker's memory outlives a task.
    const uint64_t id =
        Hasher().add(hash_of(state_->task)).add(static_cast<uint64_t>(place)).add(layout).finish();
    result.buffers.push_back({id, 1, entry->second});
    ++place;
  }
  for (size_t i = 0; i < program.prepared.size(); ++i) result.buffers.emplace_back();
  const double tolerance = state_->tolerance_of(trace);
  result.check = [this_state = state_.get(), output_layouts,
                  tolerance](std::span<const std::span<const std::byte>> outputs) -> Status {
    for (size_t i = 0; i < outputs.size(); ++i) {
      LATHE_TRY_STATUS(check_points(this_state->references[i], output_layouts[i], outputs[i], tolerance));
    }
    return {};
  };
  return result;
}

Result<FullCheck> Problem::check_in_full(const Program& program, const Trace& trace, const Module& module,
                                         CandidateRunner& runner) {
  LATHE_TRY_STATUS(state_->complete(runner));
  std::vector<Layout> layouts;
  for (const Argument& argument : program.arguments) {
    if (argument.is_output) layouts.push_back(argument.layout);
  }
  FullCheck found;
  found.tolerance = state_->tolerance_of(trace);
  MeasureInputs inputs = inputs_for(program, trace);
  inputs.check = [&](std::span<const std::span<const std::byte>> outputs) -> Status {
    for (size_t i = 0; i < outputs.size(); ++i) {
      LATHE_TRY_STATUS(
          check_all(state_->references[i].tensor, state_->all[i].values, layouts[i], outputs[i], found));
    }
    return {};
  };
  LATHE_TRY(found.failure, runner.verify(module, inputs));
  return found;
}

}  // namespace lathe
