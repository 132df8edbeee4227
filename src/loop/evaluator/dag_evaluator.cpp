#include "loop/evaluator/dag_evaluator.h"

#include <algorithm>

#include "base/check.h"
#include "expr/walk.h"
#include "loop/evaluator/too_far.h"
#include "loop/interpreter/arithmetic.h"

namespace lathe::evaluator {
namespace {

using interpreter::apply;

// Tensors up to this size keep their elements in an array.
constexpr int64_t kDenseElements = int64_t{1} << 26;
// Rows this long are computed as rows even where a reduce axis is longer: their reads are contiguous.
constexpr int64_t kWideRow = 128;

// Calls `visit` for each index of a box of axes, the last one fastest, as long as it says true.
template <class Visit>
void for_each_index(std::span<const int64_t> extents, const Visit& visit) {
  std::vector<int64_t> index(extents.size(), 0);
  for (;;) {
    if (!visit(std::as_const(index))) return;
    size_t dim = extents.size();
    while (dim > 0 && ++index[dim - 1] == extents[dim - 1]) index[--dim] = 0;
    if (dim == 0) return;
  }
}

// All lanes together. Sums run in four chains, which does not matter in double but is faster.
double reduced(Reduction reduction, const Values& values, int64_t lanes) {
  double result = identity_of(reduction);
  int64_t l = 0;
  if (reduction == Reduction::sum) {
    double sums[4] = {};
    for (; l + 4 <= lanes; l += 4) {
      for (int64_t k = 0; k < 4; ++k) sums[k] += values[l + k];
    }
    result = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }
  for (; l < lanes; ++l) result = apply(reduction, result, values[l]);
  return result;
}

}  // namespace

DagEvaluator::DagEvaluator(Dag dag, std::span<const HostTensor> inputs) : dag_(std::move(dag)) {
  for (size_t i = 0; i < inputs.size(); ++i) add_known(dag_.inputs[i], inputs[i].values);
  for (const Compute& compute : dag_.computes) add_source(compute.output, &compute);
}

Source& DagEvaluator::add_source(const Tensor& tensor, const Compute* compute) {
  Source source{compute, tensor->shape, std::vector<int64_t>(tensor->shape.size(), 1), {}, {}, {}, {}, 0};
  if (compute != nullptr) source.nodes = nodes_of(compute->body);
  for (size_t dim = source.shape.size(); dim-- > 1;) {
    source.strides[dim - 1] = source.strides[dim] * source.shape[dim];
  }
  return sources_[tensor.get()] = std::move(source);
}

void DagEvaluator::add_known(const Tensor& tensor, std::span<const double> elements) {
  Source& source = add_source(tensor, nullptr);
  source.elements = elements;
  if (are_rounded(tensor->dtype, elements)) return;
  source.kept.assign(elements.begin(), elements.end());
  round_all(tensor->dtype, source.kept);
  source.elements = source.kept;
}

int64_t DagEvaluator::nodes_of(const Expr& body) const {
  int64_t nodes = 0;
  for_each(body, [&](const Expr& e) {
    ++nodes;
    const Load* load = e.as<Load>();
    const auto source = load == nullptr ? sources_.end() : sources_.find(load->tensor.get());
    if (source != sources_.end() && is_small(source->second)) nodes += source->second.nodes;
  });
  return nodes;
}

Source& DagEvaluator::source_of(const Tensor& tensor) {
  const auto found = sources_.find(tensor.get());
  if (found != sources_.end()) return found->second;
  LATHE_CHECK(!tensor->literal.empty());
  add_known(tensor, tensor->literal);
  return sources_.at(tensor.get());
}

// Sums and products of integers wrap around, as the machine's do.
double DagEvaluator::reduced_to(const Compute& compute, double value) {
  const DType dtype = compute.output->dtype;
  const bool grows = accumulates(compute.reduction);
  if (is_float(dtype)) {
    excess_.of_floats = excess_.of_floats || (grows && goes_too_far(dtype, value));
    return value;
  }
  excess_.of_integers = excess_.of_integers || (grows && goes_too_far(dtype, value));
  return round_to(dtype, value);
}

double DagEvaluator::element(Source& source, int64_t position) {
  if (source.compute == nullptr) return source.elements[static_cast<size_t>(position)];
  const int64_t elements = source.compute->output.elements();
  const bool dense = elements <= kDenseElements;
  if (dense && source.known.empty()) {
    source.known.resize(static_cast<size_t>(elements));
    source.kept.resize(static_cast<size_t>(elements));
    source.elements = source.kept;
  }
  if (dense && source.known[static_cast<size_t>(position)])
    return source.elements[static_cast<size_t>(position)];
  if (!dense) {
    if (const auto found = source.sparse.find(position); found != source.sparse.end()) return found->second;
  }
  std::vector<int64_t> index(source.shape.size());
  for (size_t dim = 0; dim < index.size(); ++dim) {
    index[dim] = position / source.strides[dim] % source.shape[dim];
  }
  const double value = point(*source.compute, index);
  if (watch_.is_over()) return kNan;
  if (dense) {
    source.known[static_cast<size_t>(position)] = true;
    source.kept[static_cast<size_t>(position)] = value;
  } else {
    source.sparse.emplace(position, value);
  }
  return value;
}

// One point, with the longest reduce axis across the lanes.
double DagEvaluator::point(const Compute& compute, std::span<const int64_t> index) {
  Frame frame;
  const size_t spatial = compute.spatial_count();
  size_t lane_axis = spatial;
  std::vector<int64_t> extents;  // of the reduce axes that are walked one by one; 1 for the lanes' axis
  for (size_t i = 0; i < compute.axes.size(); ++i) {
    const Axis& axis = compute.axes[i];
    frame.axes.emplace_back(axis.var.atom().get(), Indices{i < spatial ? index[i] : 0, 0, nullptr});
    if (i >= spatial) extents.push_back(axis.extent);
    if (i >= spatial && axis.extent > compute.axes[lane_axis].extent) lane_axis = i;
  }
  const size_t doubles = doubles_.used();
  const size_t integers = integers_.used();
  if (compute.reduction == Reduction::none) {
    const double result = watch_.is_over_after_step() ? kNan : value(compute.body, frame)[0];
    doubles_.release(doubles);
    integers_.release(integers);
    return result;
  }
  double result = identity_of(compute.reduction);
  const int64_t across = compute.axes[lane_axis].extent;
  extents[lane_axis - spatial] = 1;
  for_each_index(extents, [&](const std::vector<int64_t>& at) {
    for (size_t i = 0; i < at.size(); ++i) frame.axes[spatial + i].second = {at[i], 0, nullptr};
    for (int64_t begin = 0; begin < across && !watch_.is_over_after_step(); begin += kLanes) {
      frame.axes[lane_axis].second = {begin, 1, nullptr};
      frame.lanes = std::min(kLanes, across - begin);
      const Values body = value(compute.body, frame);
      result = apply(compute.reduction, result, reduced(compute.reduction, body, frame.lanes));
      doubles_.release(doubles);
      integers_.release(integers);
    }
    return !watch_.is_over();
  });
  return reduced_to(compute, result);
}

// Neighbouring points along the last spatial axis.
void DagEvaluator::row(const Compute& compute, std::vector<int64_t>& index, int64_t lanes, double* result) {
  Frame frame;
  frame.lanes = lanes;
  const size_t spatial = compute.spatial_count();
  std::vector<int64_t> extents;
  for (size_t i = 0; i < compute.axes.size(); ++i) {
    const int64_t base = i < spatial ? index[i] : 0;
    frame.axes.emplace_back(compute.axes[i].var.atom().get(),
                            Indices{base, i + 1 == spatial ? 1 : 0, nullptr});
    if (i >= spatial) extents.push_back(compute.axes[i].extent);
  }
  std::fill_n(result, lanes, identity_of(compute.reduction));
  for_each_index(extents, [&](const std::vector<int64_t>& at) {
    for (size_t i = 0; i < at.size(); ++i) frame.axes[spatial + i].second = {at[i], 0, nullptr};
    const size_t doubles = doubles_.used();
    const size_t integers = integers_.used();
    const Values body = value(compute.body, frame);
    for (int64_t l = 0; l < lanes; ++l) result[l] = apply(compute.reduction, result[l], body[l]);
    doubles_.release(doubles);
    integers_.release(integers);
    return !watch_.is_over_after_step();
  });
  for (int64_t l = 0; l < lanes; ++l) result[l] = reduced_to(compute, result[l]);
}

void DagEvaluator::fill(Source& source, double* result) {
  const Compute& compute = *source.compute;
  const size_t spatial = compute.spatial_count();
  const int64_t elements = compute.output.elements();
  int64_t longest = 1;
  for (size_t i = spatial; i < compute.axes.size(); ++i) longest = std::max(longest, compute.axes[i].extent);
  const int64_t last = spatial == 0 ? 1 : source.shape.back();
  if (longest >= last && last < kWideRow) {
    for (int64_t position = 0; position < elements && !watch_.is_over(); ++position)
      result[position] = element(source, position);
    return;
  }
  std::vector<int64_t> index(spatial);
  for (int64_t begin = 0; begin < elements && !watch_.is_over(); begin += last) {
    for (size_t dim = 0; dim < spatial; ++dim) index[dim] = begin / source.strides[dim] % source.shape[dim];
    for (int64_t first = 0; first < last; first += kLanes) {
      index.back() = first;
      row(compute, index, std::min(kLanes, last - first), result + begin + first);
    }
  }
}

HostTensor DagEvaluator::all(const Tensor& tensor) {
  Source& source = source_of(tensor);
  HostTensor result = zeros_like(tensor);
  if (source.compute == nullptr) {
    result.values.assign(source.elements.begin(), source.elements.end());
  } else {
    fill(source, result.values.data());
  }
  return result;
}

}  // namespace lathe::evaluator
