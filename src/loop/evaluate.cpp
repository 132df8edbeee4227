#include "loop/evaluate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "loop/evaluator/dag_evaluator.h"

namespace lathe {

using evaluator::DagEvaluator;
using evaluator::Source;

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

HostTensor ElementEvaluator::all(const Tensor& tensor) { return impl_->all(tensor); }

Excess ElementEvaluator::excess() const { return impl_->excess(); }

Result<std::vector<HostTensor>> evaluate(const Dag& dag, std::span<const HostTensor> inputs) {
  LATHE_TRY(ElementEvaluator evaluator, ElementEvaluator::create(dag, inputs));
  std::vector<HostTensor> outputs;
  for (const Tensor& output : dag.outputs) outputs.push_back(evaluator.all(output));
  return outputs;
}

}  // namespace lathe
