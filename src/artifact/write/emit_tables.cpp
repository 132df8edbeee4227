// The text of the tables that the library of an artifact is built with (artifact/write/emit_sources.h).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

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
std::string info_array(const std::string& name, const std::vector<ModelTensor>& tensors) {
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

std::string loop_arrays(const Model& model) {
  std::string pointers, loops;
  const auto place = [](const ModelStepPlace& at) {
    return fmt::format("{{{}, {}, {}}}", binding_text(at.base), at.offset, at.stride);
  };
  for (const ModelPointer& pointer : model.pointers)
    pointers +=
        fmt::format("  {{{}, {}, {}}},\n", place(pointer.first), place(pointer.even), place(pointer.odd));
  for (const ModelLoop& loop : model.loops) {
    const ModelLoop::Condition condition = loop.condition.value_or(ModelLoop::Condition());
    loops +=
        fmt::format("  {{{}, {}, {}, {}, {}, {}, {}, {}, {}}},\n", loop.steps, loop.first_launch,
                    loop.launch_count, loop.first_pointer, loop.pointer_count, loop.last_count,
                    loop.condition ? 1 : 0, binding_text(condition.begins), binding_text(condition.goes_on));
  }
  std::string text;
  if (!pointers.empty()) text += fmt::format("static const LathePointer pointers[] = {{\n{}}};\n", pointers);
  if (!loops.empty()) text += fmt::format("static const LatheLoop loops[] = {{\n{}}};\n", loops);
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

}  // namespace

std::string model_tables_source(const Model& model, uint64_t build) {
  std::string text = "#include \"model_tables.h\"\n\n" + declarations(model);
  text += tensor_arrays("input", model.inputs) + tensor_arrays("output", model.outputs);
  text += info_array("input", model.inputs) + info_array("output", model.outputs);
  text += launch_arrays(model, "prepare", model.prepares, &Module::prepare_symbol);
  text += launch_arrays(model, "step", model.launches, &Module::kernel_symbol) + loop_arrays(model);
  const auto list = [](const char* name, size_t count) {
    return fmt::format("  {}, {},\n", count, pointer(name, count));
  };
  text += fmt::format("const LatheModelTables lathe_model_tables = {{\n  {}, {}, {},\n",
                      literal(model.target.name), extensions_of(model), largest(model, &Module::threads, 1));
  text += list("inputs", model.inputs.size()) + list("outputs", model.outputs.size()) +
          list("prepares", model.prepares.size()) + list("steps", model.launches.size()) +
          list("loops", model.loops.size()) + list("pointers", model.pointers.size());
  text += fmt::format("  {}, {}, {}, {},\n", model.arena_bytes, model.weights_bytes, model.resident_bytes,
                      largest(model, &Module::workspace_bytes, int64_t{0}));
  text += fmt::format("  {{sizeof(lathe_model_info), {}, {:#x}u,\n", literal(model.name), build);
  text += list("input_infos", model.inputs.size()) + list("output_infos", model.outputs.size());
  return text + fmt::format(
                    "  {}}}}};\n\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n"
                    "LATHE_DEFINE_MODEL(lathe)\nLATHE_DEFINE_MODEL({})\n"
                    "#ifdef __cplusplus\n}}\n#endif\n",
                    model.launches.size(), public_prefix(model));
}

}  // namespace lathe
