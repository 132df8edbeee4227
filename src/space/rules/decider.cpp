#include "space/rules/decider.h"

#include <fmt/format.h>

#include <algorithm>

#include "space/rules/parallel.h"

namespace lathe {

bool Analysis::is_intermediate(const Tensor& tensor) const {
  return dag.producer(tensor) != nullptr && !dag.is_output(tensor);
}

bool Decider::is_open(const Tensor& tensor) const {
  if (layouts.contains(tensor->name)) return false;
  const auto argument = std::ranges::find(task.arguments, tensor, &Argument::tensor);
  const bool is_free = argument != task.arguments.end() && argument->layout_is_free && !argument->is_constant;
  return is_free || is_intermediate(tensor);
}

void Decider::set_layout(const Tensor& tensor, const Layout& layout) {
  if (!is_open(tensor)) return;
  layouts.emplace(tensor->name, layout);
  if (layout == Layout::row_major(tensor->shape.size())) return;
  places.emplace_back(LayoutStep{tensor->name, layout});
}

Layout Decider::layout_of(const Tensor& tensor) const {
  const auto decided = layouts.find(tensor->name);
  if (decided != layouts.end()) return decided->second;
  for (const Argument& argument : task.arguments) {
    if (argument.tensor == tensor && !argument.layout.dims.empty()) return argument.layout;
  }
  return Layout::row_major(tensor->shape.size());
}

std::string Decider::name_copy(const Tensor& tensor, const std::string& block) {
  std::string name = tensor->name + ".pack";
  if (copies.contains(name)) name += "." + block;
  copies.emplace(name, tensor->name);
  return name;
}

std::string Decider::set_copy(const Tensor& tensor, bool is_constant, const std::string& block,
                              const Layout& layout, std::optional<DType> type) {
  std::string name = name_copy(tensor, block);
  places.emplace_back(CacheReadStep{block, tensor->name, name, is_constant ? "prepare" : "root",
                                    Scope::workspace, layout, type});
  return name;
}

namespace {

// The layout of a tensor as written so far.
Layout written_layout(const Writer& writer, const Tensor& tensor) {
  for (const Step& step : writer.trace) {
    const auto* layout = std::get_if<LayoutStep>(&step);
    if (layout != nullptr && layout->tensor == tensor->name) return layout->layout;
  }
  const auto argument = std::ranges::find(writer.task.arguments, tensor, &Argument::tensor);
  const bool is_given = argument != writer.task.arguments.end() && !argument->layout.dims.empty();
  return is_given ? argument->layout : Layout::row_major(tensor->shape.size());
}

// The dimension along which whole vectors of elements lie side by side where they come from and in the copy.
std::optional<size_t> dim_of_vectors(const Writer& writer, const Tensor& tensor, const CacheReadStep& copy,
                                     int64_t lanes) {
  if (copy.layout.dims.empty() || copy.dtype || tensor->shape.empty()) return std::nullopt;
  const LayoutDim to = copy.layout.dims.back();
  const Layout layout = written_layout(writer, tensor);
  const auto has_vectors = [&](const LayoutDim& inner) {
    return inner.dim == to.dim && inner.divide == 1 && inner.modulo % lanes == 0;
  };
  const auto dim = static_cast<size_t>(to.dim);
  const bool fills = lanes > 1 && tensor->shape[dim] >= lanes;
  return fills && has_vectors(to) && has_vectors(layout.dims.back()) ? std::optional(dim) : std::nullopt;
}

// A copy that is made in every call, by all cores.
void write_copy(Writer& writer, const Tensor& tensor, const CacheReadStep& copy) {
  const std::string& block = copy.copy;
  const int64_t lanes = writer.task.target.cpu().lanes(static_cast<int>(bytes_of(tensor->dtype)));
  const auto vectors = dim_of_vectors(writer, tensor, copy, lanes);
  OuterLoops loops;
  for (size_t d = 0; d < tensor->shape.size(); ++d) {
    if (d != vectors) loops.emplace_back(fmt::format("d{}", d), tensor->shape[d]);
  }
  if (vectors) {
    const std::string along = fmt::format("d{}", *vectors);
    writer.add(SplitStep{block, along, {lanes}});
    ReorderStep order{block, names_of(loops)};
    order.loops.push_back(along + ".0");
    order.loops.push_back(along + ".1");
    writer.add(order);
    writer.add(AnnotateStep{block, along + ".1", LoopKind::vectorized});
    writer.add(TailStep{block, along, Tail::mask});
  }
  write_shared(writer, block, share_loops(writer, loops));
}

}  // namespace

void write_places(Writer& writer, const Places& places) {
  const auto write = [&](const Tensor& tensor, const CacheReadStep& copy) {
    if (tensor->name == copy.tensor) write_copy(writer, tensor, copy);
  };
  for (const Step& place : places) {
    writer.trace.push_back(place);
    const auto* copy = std::get_if<CacheReadStep>(&place);
    if (copy == nullptr || copy->at != "root") continue;
    for (const Tensor& input : writer.dag.inputs) write(input, *copy);
    for (const Compute& compute : writer.dag.computes) write(compute.output, *copy);
  }
}

}  // namespace lathe
