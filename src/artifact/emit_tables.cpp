#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "artifact/emit_sources.h"

namespace lathe {
namespace {

const char* storage_name(ModelStorage storage) {
  switch (storage) {
    case ModelStorage::input: return "LATHE_INPUT";
    case ModelStorage::output: return "LATHE_OUTPUT";
    case ModelStorage::arena: return "LATHE_ARENA";
    case ModelStorage::weights: return "LATHE_WEIGHTS";
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
    if (!plain) {
      text += fmt::format("static const LatheLayoutDim {}{}_layout[] = {{", name, i);
      for (const LayoutDim& dim : tensor.layout.dims) {
        text += fmt::format("{{{}, {}, {}, {}}}, ", dim.dim, dim.divide, dim.modulo, dim.extra);
      }
      text += "};\n";
    }
    const Interval indices = tensor.index_range.value_or(Interval{0, -1});
    const int64_t bytes = physical_elements(tensor.layout, tensor.shape) * bytes_of(tensor.dtype);
    entries += fmt::format("  {{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}}},\n", literal(tensor.name),
                           bytes_of(tensor.dtype), tensor.is_constant ? 1 : 0, tensor.shape.size(),
                           pointer(fmt::format("{}{}_shape", name, i), tensor.shape.size()),
                           plain ? 0 : tensor.layout.dims.size(),
                           plain ? "0" : fmt::format("{}{}_layout", name, i), bytes, indices.lo, indices.hi);
  }
  if (tensors.empty()) return text;
  return text + fmt::format("static const LatheTensor {}s[] = {{\n{}}};\n", name, entries);
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
      text += fmt::format("{{{}, {}}}, ", storage_name(binding.storage), binding.place);
    }
    text += "};\n";
    entries += fmt::format("  {{{}, {}{}, {}, {}}},\n", module.*symbol, name, i, launch.buffers.size(),
                           module.threads);
  }
  if (launches.empty()) return text;
  return text + fmt::format("static const LatheLaunch {}s[] = {{\n{}}};\n", name, entries);
}

template <class Value>
Value largest(const Model& model, Value Module::* field, Value least) {
  for (const CompiledTask& kernel : model.kernels) least = std::max(least, kernel.module.*field);
  return least;
}

}  // namespace

std::string model_tables_source(const Model& model) {
  std::string text = "#include \"model_tables.h\"\n\n" + declarations(model);
  text += tensor_arrays("input", model.inputs) + tensor_arrays("output", model.outputs);
  text += launch_arrays(model, "prepare", model.prepares, &Module::prepare_symbol);
  text += launch_arrays(model, "step", model.launches, &Module::kernel_symbol);
  const auto list = [](const char* name, size_t count) {
    return fmt::format("  {}, {},\n", count, pointer(name, count));
  };
  text += fmt::format("const LatheModelTables lathe_model_tables = {{\n  {}, {},\n",
                      model.target.isa == Isa::avx512 ? "LATHE_AVX512" : "LATHE_AVX2",
                      largest(model, &Module::threads, 1));
  text += list("inputs", model.inputs.size()) + list("outputs", model.outputs.size()) +
          list("prepares", model.prepares.size()) + list("steps", model.launches.size());
  return text + fmt::format("  {}, {}, {:#x}u, {}, {}\n}};\n", model.arena_bytes, model.weights.size(),
                            weights_id(model), model.resident_bytes,
                            largest(model, &Module::workspace_bytes, int64_t{0}));
}

}  // namespace lathe
