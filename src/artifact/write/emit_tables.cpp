// The text of the tables that the library of an artifact is built with (artifact/write/emit_sources.h).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "artifact/copy_plan.h"
#include "artifact/write/emit_sources.h"

namespace lathe {
namespace {

const char* storage_constant(ModelStorage storage) {
  switch (storage) {
    case ModelStorage::input: return "LATHE_INPUT";
    case ModelStorage::output: return "LATHE_OUTPUT";
    case ModelStorage::arena: return "LATHE_ARENA";
    case ModelStorage::weights: return "LATHE_WEIGHTS";
    case ModelStorage::pointer: return "LATHE_POINTER";
    case ModelStorage::resident: break;
  }
  return "LATHE_RESIDENT";
}

// A string literal of printable ASCII: names of a model may hold anything.
std::string literal(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\' && c != '?';
    result += plain ? std::string(1, c) : fmt::format("\\{:03o}", byte);
  }
  return result + "\"";
}

// C has no empty arrays: a list of none is a null pointer.
std::string pointer(const std::string& array, size_t count) { return count == 0 ? "0" : array; }

std::string declarations(const Model& model) {
  std::string text = "#ifdef __cplusplus\nextern \"C\" {\n#endif\n";
  const auto declare = [&](const std::string& symbol) {
    if (symbol.empty()) return;
    text += fmt::format("int {}(void* const*, const int64_t*, void*, const LatheParallel*);\n", symbol);
  };
  for (const CompiledTask& kernel : model.kernels) {
    declare(kernel.module.kernel_symbol);
    declare(kernel.module.prepare_symbol);
  }
  return text + "#ifdef __cplusplus\n}\n#endif\n";
}

std::string copy_arrays(const std::string& tensor, const std::vector<LayoutCopy>& copies) {
  std::string text;
  std::string entries;
  for (size_t i = 0; i < copies.size(); ++i) {
    const std::string axes = fmt::format("{}_axes{}", tensor, i);
    text += fmt::format("static const LatheAxis {}[] = {{", axes);
    for (const CopyAxis& axis : copies[i].axes)
      text += fmt::format("{{{}, {}, {}}}, ", axis.extent, axis.outside, axis.inside);
    text += "};\n";
    entries += fmt::format("  {{{}, {}, {}, {}}},\n", copies[i].outside, copies[i].inside,
                           copies[i].axes.size(), axes);
  }
  if (copies.empty()) return text;
  return text + fmt::format("static const LatheCopy {}_copies[] = {{\n{}}};\n", tensor, entries);
}

std::string tensor_arrays(const std::string& name, const std::vector<ModelTensor>& tensors) {
  std::string text;
  std::string entries;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const ModelTensor& tensor = tensors[i];
    const bool plain = tensor.layout == Layout::row_major(tensor.shape.size());
    if (!tensor.shape.empty()) {
      text += fmt::format("static const int64_t {}{}_shape[] = {{{}}};\n", name, i,
                          fmt::join(tensor.shape, ", "));
    }
    const std::vector<LayoutCopy> copies = copy_plan(tensor.layout, tensor.shape);
    text += copy_arrays(fmt::format("{}{}", name, i), copies);
    const Interval indices = tensor.index_range.value_or(Interval{0, -1});
    const int64_t bytes = physical_elements(tensor.layout, tensor.shape) * bytes_of(tensor.dtype);
    entries +=
        fmt::format("  {{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}},\n", literal(tensor.name),
                    bytes_of(tensor.dtype), is_unsigned(tensor.dtype) ? 1 : 0, tensor.is_constant ? 1 : 0,
                    tensor.shape.size(), pointer(fmt::format("{}{}_shape", name, i), tensor.shape.size()),
                    plain ? 1 : 0, copies.size(), pointer(fmt::format("{}{}_copies", name, i), copies.size()),
                    bytes, indices.lo, indices.hi);
  }
  if (tensors.empty()) return text;
  return text + fmt::format("static const LatheTensor {}s[] = {{\n{}}};\n", name, entries);
}

// What the library says of them to others: as LatheTensor has it.
std::string info_array(const std::string& name, std::span<const ModelTensor> tensors) {
  std::string entries;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const ModelTensor& tensor = tensors[i];
    entries += fmt::format("  {{{}, \"{}\", {}, {}, {}}},\n", literal(tensor.name), to_string(tensor.dtype),
                           tensor.is_constant ? 1 : 0, tensor.shape.size(),
                           pointer(fmt::format("{}{}_shape", name, i), tensor.shape.size()));
  }
  if (tensors.empty()) return "";
  return fmt::format("static const lathe_tensor_info {}_infos[] = {{\n{}}};\n", name, entries);
}

std::string binding_text(const ModelBinding& binding) {
  return fmt::format("{{{}, {}}}", storage_constant(binding.storage), binding.place);
}

std::string launch_arrays(const Model& model, const std::string& name,
                          const std::vector<ModelLaunch>& launches, std::string Module::* symbol) {
  std::string text;
  std::string entries;
  for (size_t i = 0; i < launches.size(); ++i) {
    const ModelLaunch& launch = launches[i];
    const Module& module = model.kernels[launch.kernel].module;
    text += fmt::format("static const LatheBinding {}{}[] = {{", name, i);
    for (const ModelBinding& binding : launch.buffers) {
      text += binding_text(binding) + ", ";
    }
    text += "};\n";
    entries += fmt::format("  {{{}, {}{}, {}, {}}},\n", module.*symbol, name, i, launch.buffers.size(),
                           module.threads);
  }
  if (launches.empty()) return text;
  return text + fmt::format("static const LatheLaunch {}s[] = {{\n{}}};\n", name, entries);
}

std::string loop_arrays(const std::string& prefix, const std::vector<ModelLoop>& loops,
                        const std::vector<ModelPointer>& pointers) {
  std::string pointer_entries, loop_entries;
  const auto place = [](const ModelStepPlace& at) {
    return fmt::format("{{{}, {}, {}}}", binding_text(at.base), at.offset, at.stride);
  };
  for (const ModelPointer& pointer : pointers)
    pointer_entries +=
        fmt::format("  {{{}, {}, {}}},\n", place(pointer.first), place(pointer.even), place(pointer.odd));
  for (const ModelLoop& loop : loops) {
    const ModelLoop::Condition condition = loop.condition.value_or(ModelLoop::Condition());
    loop_entries +=
        fmt::format("  {{{}, {}, {}, {}, {}, {}, {}, {}, {}}},\n", loop.steps, loop.first_launch,
                    loop.launch_count, loop.first_pointer, loop.pointer_count, loop.last_count,
                    loop.condition ? 1 : 0, binding_text(condition.begins), binding_text(condition.goes_on));
  }
  std::string text;
  if (!pointers.empty())
    text += fmt::format("static const LathePointer {}pointers[] = {{\n{}}};\n", prefix, pointer_entries);
  if (!loops.empty())
    text += fmt::format("static const LatheLoop {}loops[] = {{\n{}}};\n", prefix, loop_entries);
  return text;
}

template <class Value>
Value largest(const Model& model, Value Module::* field, Value least) {
  for (const CompiledTask& kernel : model.kernels) least = std::max(least, kernel.module.*field);
  return least;
}

// As bits.
uint32_t extensions_of(const Model& model) {
  uint32_t bits = 0;
  for (const CompiledTask& kernel : model.kernels) {
    for (size_t i = 0; i < kExtensions.size(); ++i) {
      const std::vector<std::string>& used = kernel.module.extensions;
      if (std::ranges::find(used, kExtensions[i].name) != used.end()) bits |= uint32_t{1} << i;
    }
  }
  return bits;
}

std::string list(const std::string& name, size_t count) {
  return fmt::format("  {}, {},\n", count, pointer(name, count));
}

// The arrays of one plan, whose names begin with `prefix`.
std::string plan_arrays(const Model& model, const std::string& prefix, const ModelPlan& plan) {
  return tensor_arrays(prefix + "input", plan.inputs) + tensor_arrays(prefix + "output", plan.outputs) +
         launch_arrays(model, prefix + "step", plan.launches, &Module::kernel_symbol) +
         loop_arrays(prefix, plan.loops, plan.pointers);
}

// What a plan's tables say before `info`.
std::string plan_fields(const Model& model, const std::string& prefix, const ModelPlan& plan,
                        size_t prepares) {
  return fmt::format("  {}, {}, {},\n", literal(model.target.name), extensions_of(model),
                     largest(model, &Module::threads, 1)) +
         list(prefix + "inputs", plan.inputs.size()) + list(prefix + "outputs", plan.outputs.size()) +
         list("prepares", prepares) + list(prefix + "steps", plan.launches.size()) +
         list(prefix + "loops", plan.loops.size()) + list(prefix + "pointers", plan.pointers.size()) +
         fmt::format("  {}, {}, {}, {},\n", plan.arena_bytes, model.weights_bytes, model.resident_bytes,
                     largest(model, &Module::workspace_bytes, int64_t{0}));
}

const char* served_by(SizedBy by) {
  switch (by) {
    case SizedBy::parts: return "LATHE_BY_PARTS";
    case SizedBy::count: return "LATHE_BY_COUNT";
    case SizedBy::exact: break;
  }
  return "LATHE_EXACT";
}

// What the library says of its free sizes.
std::string free_arrays(const FreeSizes& free) {
  std::string text = "static const lathe_dimension dimensions[] = {\n";
  for (const FreeDimension& dimension : free.dimensions)
    text += fmt::format("  {{{}, {}, {}}},\n", literal(dimension.name), dimension.least, dimension.most);
  text += "};\nstatic const lathe_free_extent extents[] = {\n";
  for (const FreeExtent& extent : free.extents)
    text += fmt::format("  {{{}, {}, {}, {}, {}, {}}},\n", extent.is_output ? 1 : 0, extent.tensor,
                        extent.axis, extent.dimension, extent.outer, extent.inner);
  return text +
         fmt::format("}};\nstatic const lathe_free_sizes free_sizes = {{{}, dimensions, {}, extents}};\n",
                     free.dimensions.size(), free.extents.size());
}

// The tables of all plans but the largest, and the list of all, which names the largest's.
std::string all_plans(const Model& model) {
  std::string text = "extern const LatheModelTables lathe_model_tables;\n";
  std::string entries;
  const auto add = [&](size_t number, const std::vector<int64_t>& sizes, double seconds,
                       const std::string& tables) {
    text += fmt::format("static const int64_t plan{}_sizes[] = {{{}}};\n", number, fmt::join(sizes, ", "));
    entries += fmt::format("  {{plan{}_sizes, &{}, {}}},\n", number, tables, seconds);
  };
  for (size_t i = 0; i < model.smaller.size(); ++i) {
    const ModelPlan& plan = model.smaller[i];
    const std::string prefix = fmt::format("plan{}_", i);
    text += plan_arrays(model, prefix, plan);
    text += fmt::format("static const LatheModelTables {}tables = {{\n{}  {{0}}, 0}};\n", prefix,
                        plan_fields(model, prefix, plan, 0));
    add(i, plan.sizes, plan.seconds, prefix + "tables");
  }
  std::vector<int64_t> most;
  std::vector<std::string> by;
  for (const FreeDimension& dimension : model.free.dimensions) {
    most.push_back(dimension.most);
    by.emplace_back(served_by(dimension.by));
  }
  add(model.smaller.size(), most, model.seconds, "lathe_model_tables");
  return text + fmt::format(
                    "static const int32_t served_by[] = {{{}}};\nstatic const LathePlan plan_list[] = {{\n"
                    "{}}};\nstatic const LathePlans plans = {{served_by, {}, plan_list}};\n",
                    fmt::join(by, ", "), entries, model.smaller.size() + 1);
}

}  // namespace

std::string model_tables_source(const Model& model, uint64_t build) {
  const ModelPlan own{
      {},          model.inputs,  model.outputs, model.launches, model.arena_bytes, model.seconds,
      model.loops, model.pointers};
  std::string text = "#include \"model_tables.h\"\n\n" + declarations(model);
  text += plan_arrays(model, "", own);
  text += info_array("input", model.given_inputs()) + info_array("output", model.outputs);
  text += launch_arrays(model, "prepare", model.prepares, &Module::prepare_symbol);
  const bool is_free = !model.free.empty();
  if (is_free) text += free_arrays(model.free) + all_plans(model);
  text += fmt::format("const LatheModelTables lathe_model_tables = {{\n{}",
                      plan_fields(model, "", own, model.prepares.size()));
  text += fmt::format("  {{sizeof(lathe_model_info), {}, {:#x}u,\n", literal(model.name), build);
  text += list("input_infos", model.given_inputs().size()) + list("output_infos", model.outputs.size());
  return text + fmt::format(
                    "  {}, {}}}, {}}};\n\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n"
                    "LATHE_DEFINE_MODEL(lathe)\nLATHE_DEFINE_MODEL({})\n"
                    "#ifdef __cplusplus\n}}\n#endif\n",
                    model.launches.size(), is_free ? "&free_sizes" : "0", is_free ? "&plans" : "0",
                    public_prefix(model));
}

}  // namespace lathe
