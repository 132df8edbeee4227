#include "bench/peers/onednn_plan.h"

#include <functional>
#include <numeric>

namespace lathe::peers {

int64_t elements_of(const Dims& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

dnnl::memory::desc any_layout(const Dims& shape) {
  return {shape, dnnl::memory::data_type::f32, dnnl::memory::format_tag::any};
}

dnnl::memory::desc row_major_layout(const Dims& shape) {
  Dims strides(shape.size(), 1);
  for (size_t d = shape.size() - 1; d-- > 0;) strides[d] = strides[d + 1] * shape[d + 1];
  return {shape, dnnl::memory::data_type::f32, strides};
}

Operand operand_of(int argument, const Request& request, size_t place, const Dims& shape) {
  return {argument, any_layout(shape), row_major_layout(shape), request.input(place, elements_of(shape))};
}

}  // namespace lathe::peers
