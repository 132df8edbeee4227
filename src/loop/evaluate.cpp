#include "loop/evaluate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "loop/evaluator/dag_evaluator.h"

namespace lathe {

using evaluator::DagEvaluator;
using evaluator::Source;

namespace {

std::unexpected<Error> no_time(const Tensor& tensor) {
  return fail(ErrorKind::timeout, fmt::format("there is no time left to evaluate {}", tensor->name));
}

}  // namespace

ElementEvaluator::ElementEvaluator(std::unique_ptr<DagEvaluator> impl) : impl_(std::move(impl)) {}
ElementEvaluator::ElementEvaluator(ElementEvaluator&&) noexcept = default;
ElementEvaluator& ElementEvaluator::operator=(ElementEvaluator&&) noexcept = default;
ElementEvaluator::~ElementEvaluator() = default;

Result<ElementEvaluator> ElementEvaluator::create(const Dag& dag, std::span<const HostTensor> inputs) {
  if (inputs.size() != dag.inputs.size()) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("there are {} inputs for a Dag that takes {}", inputs.size(), dag.inputs.size()));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& tensor = dag.inputs[i];
    const HostTensor& input = inputs[i];
    if (input.dtype == tensor->dtype && input.shape == tensor->shape &&
        static_cast<int64_t>(input.values.size()) == tensor.elements()) {
      continue;
    }
    return fail(
        ErrorKind::invalid_argument,
        fmt::format("{} takes {} [{}], the input is {} [{}]", tensor->name, to_string(tensor->dtype),
                    fmt::join(tensor->shape, ", "), to_string(input.dtype), fmt::join(input.shape, ", ")));
  }
  return ElementEvaluator(std::make_unique<DagEvaluator>(dag, inputs));
}

double ElementEvaluator::at(const Tensor& tensor, std::span<const int64_t> index) {
  const Source& source = impl_->source_of(tensor);
  LATHE_CHECK(index.size() == source.shape.size());
  int64_t position = 0;
  for (size_t dim = 0; dim < index.size(); ++dim) position += index[dim] * source.strides[dim];
  return at(tensor, position);
}

double ElementEvaluator::at(const Tensor& tensor, int64_t position) {
  LATHE_CHECK(position >= 0 && position < tensor.elements());
  return impl_->element(impl_->source_of(tensor), position);
}

Result<double> ElementEvaluator::within(const Tensor& tensor, int64_t position, const Watch& watch) {
  const std::optional<double> element = impl_->within(watch, [&] { return at(tensor, position); });
  return element ? Result<double>(*element) : no_time(tensor);
}

Result<HostTensor> ElementEvaluator::all(const Tensor& tensor, const Watch& watch) {
  std::optional<HostTensor> all = impl_->within(watch, [&] { return impl_->all(tensor); });
  if (!all) return no_time(tensor);
  return std::move(*all);
}

Excess ElementEvaluator::excess() const { return impl_->excess(); }

Result<std::vector<HostTensor>> evaluate(const Dag& dag, std::span<const HostTensor> inputs,
                                         const Watch& watch) {
  LATHE_TRY(ElementEvaluator evaluator, ElementEvaluator::create(dag, inputs));
  std::vector<HostTensor> outputs;
  for (const Tensor& output : dag.outputs) {
    LATHE_TRY(HostTensor all, evaluator.all(output, watch));
    outputs.push_back(std::move(all));
  }
  return outputs;
}

}  // namespace lathe
