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

// The loops of a block that copies a tensor.
OuterLoops loops_of_copy(const Analysis& analysis, const std::string& name) {
  OuterLoops loops;
  const auto add_loops = [&](const Tensor& tensor) {
    if (tensor->name != name) return;
    for (size_t d = 0; d < tensor->shape.size(); ++d)
      loops.emplace_back(fmt::format("d{}", d), tensor->shape[d]);
  };
  for (const Tensor& input : analysis.dag.inputs) add_loops(input);
  for (const Compute& compute : analysis.dag.computes) add_loops(compute.output);
  return loops;
}

}  // namespace

void write_places(Writer& writer, const Places& places) {
  for (const Step& place : places) {
    writer.trace.push_back(place);
    const auto* copy = std::get_if<CacheReadStep>(&place);
    if (copy != nullptr && copy->at == "root")
      write_shared(writer, copy->copy, share_loops(writer, loops_of_copy(writer, copy->tensor)));
  }
}

}  // namespace lathe
