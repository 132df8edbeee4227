// The text of model.h and of the manifest (artifact/write/emit_sources.h).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <nlohmann/json.hpp>

#include "artifact/manifest.h"
#include "artifact/write/emit_sources.h"
#include "artifact/write/runtime_bytes.h"
#include "base/hash.h"
#include "expr/print.h"
#include "schedule/apply.h"

namespace lathe {
namespace {

using nlohmann::ordered_json;

// A name of the model inside a comment of ours.
std::string comment_safe(std::string text) {
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f || c == '*') c = '_';
  }
  return text;
}

std::string describe(const char* list, std::span<const ModelTensor> tensors) {
  std::string text;
  for (size_t i = 0; i < tensors.size(); ++i) {
    text += fmt::format(" *   {}[{}]  {}: {}[{}]{}\n", list, i, comment_safe(tensors[i].name),
                        to_string(tensors[i].dtype), fmt::join(tensors[i].shape, ", "),
                        tensors[i].is_constant ? ", constant" : "");
  }
  return text;
}

// The functions of the C face by the ends of their names, and what goes around them in C.
struct Function {
  const char* result;
  const char* name;
  const char* arguments;
};
constexpr std::array<Function, 9> kFunctions = {{
    {"lathe_model* ", "open", "const char* folder, int cores"},
    {"lathe_model* ", "open_with", "const char* folder, const lathe_open_options* options"},
    {"int ", "run", "lathe_model* model, const void* const* inputs, void* const* outputs"},
    {"int ", "run_timed",
     "lathe_model* model, const void* const* inputs, void* const* outputs, lathe_run_times* times"},
    {"int ", "run_sized",
     "lathe_model* model, const void* const* inputs, const int64_t* const* input_shapes, void* const* "
     "outputs"},
    {"int ", "output_shapes",
     "lathe_model* model, const int64_t* const* input_shapes, int64_t* const* output_shapes"},
    {"const char* ", "error", "void"},
    {"void ", "close", "lathe_model* model"},
    {"const lathe_model_info* ", "interface", "void"},
}};

ordered_json tensors_json(std::span<const ModelTensor> tensors) {
  ordered_json list = ordered_json::array();
  for (const ModelTensor& tensor : tensors) {
    ordered_json entry = {{"name", tensor.name}, {"type", to_string(tensor.dtype)}, {"shape", tensor.shape}};
    if (tensor.is_constant) entry["constant"] = true;
    if (tensor.index_range) entry["indices"] = {tensor.index_range->lo, tensor.index_range->hi};
    if (tensor.layout != Layout::row_major(tensor.shape.size())) entry["layout"] = to_string(tensor.layout);
    list.push_back(std::move(entry));
  }
  return list;
}

const char* storage_name(ModelStorage storage) {
  switch (storage) {
    case ModelStorage::input: return "input";
    case ModelStorage::output: return "output";
    case ModelStorage::arena: return "arena";
    case ModelStorage::weights: return "weights";
    case ModelStorage::pointer: return "pointer";
    case ModelStorage::resident: break;
  }
  return "resident";
}

ordered_json binding_json(const ModelBinding& binding) {
  return {{"storage", storage_name(binding.storage)}, {"place", binding.place}};
}

ordered_json pointers_json(const std::vector<ModelPointer>& pointers) {
  const auto place = [](const ModelStepPlace& at) {
    ordered_json entry = binding_json(at.base);
    entry["offset"] = at.offset;
    entry["stride"] = at.stride;
    return entry;
  };
  ordered_json list = ordered_json::array();
  for (const ModelPointer& pointer : pointers)
    list.push_back(
        {{"first", place(pointer.first)}, {"even", place(pointer.even)}, {"odd", place(pointer.odd)}});
  return list;
}

ordered_json loops_json(const std::vector<ModelLoop>& loops) {
  ordered_json list = ordered_json::array();
  for (const ModelLoop& loop : loops) {
    list.push_back({{"name", loop.name},
                    {"steps", loop.steps},
                    {"first_launch", loop.first_launch},
                    {"launch_count", loop.launch_count},
                    {"first_pointer", loop.first_pointer},
                    {"pointer_count", loop.pointer_count},
                    {"last_count", loop.last_count}});
    if (!loop.condition) continue;
    list.back()["begins"] = binding_json(loop.condition->begins);
    list.back()["goes_on"] = binding_json(loop.condition->goes_on);
  }
  return list;
}

ordered_json launches_json(const std::vector<ModelLaunch>& launches) {
  ordered_json list = ordered_json::array();
  for (const ModelLaunch& launch : launches) {
    ordered_json buffers = ordered_json::array();
    for (const ModelBinding& binding : launch.buffers) buffers.push_back(binding_json(binding));
    list.push_back({{"name", launch.name},
                    {"operators", launch.operators},
                    {"kernel", launch.kernel},
                    {"buffers", std::move(buffers)}});
  }
  return list;
}

ordered_json kernel_json(const CompiledTask& kernel) {
  ordered_json entry = {{"symbol", kernel.module.kernel_symbol},
                        {"task", hash_to_string(hash_of(kernel.task))},
                        {"name", kernel.task.name},
                        {"dag", to_string(kernel.task.dag)},
                        {"flops", flops_of(kernel.task.dag)},
                        {"bytes", bytes_of(kernel.task.dag)},
                        {"trace", to_string(kernel.trace)},
                        {"record", nullptr}};
  if (kernel.record) entry["record"] = *kernel.record;
  entry["checked"] = to_string(kernel.checked);
  if (spreads_specials(kernel.trace)) entry["spreads_specials"] = true;
  entry["workspace_bytes"] = kernel.module.workspace_bytes;
  if (!kernel.module.prepare_symbol.empty()) entry["prepare"] = kernel.module.prepare_symbol;
  return entry;
}

const char* word_of(SizedBy by) {
  switch (by) {
    case SizedBy::parts: return "parts";
    case SizedBy::count: return "count";
    case SizedBy::exact: break;
  }
  return "exact";
}

ordered_json free_json(const FreeSizes& free) {
  ordered_json dimensions = ordered_json::array();
  for (const FreeDimension& dimension : free.dimensions)
    dimensions.push_back({{"name", dimension.name},
                          {"least", dimension.least},
                          {"most", dimension.most},
                          {"by", word_of(dimension.by)}});
  ordered_json extents = ordered_json::array();
  for (const FreeExtent& extent : free.extents)
    extents.push_back({{extent.is_output ? "output" : "input", extent.tensor},
                       {"axis", extent.axis},
                       {"dimension", extent.dimension},
                       {"outer", extent.outer},
                       {"inner", extent.inner}});
  return {{"dimensions", std::move(dimensions)}, {"extents", std::move(extents)}};
}

ordered_json plans_json(const std::vector<ModelPlan>& plans) {
  ordered_json list = ordered_json::array();
  for (const ModelPlan& plan : plans) {
    list.push_back({{"sizes", plan.sizes},
                    {"arena_bytes", plan.arena_bytes},
                    {"launches", launches_json(plan.launches)}});
    if (plan.loops.empty()) continue;
    list.back()["loops"] = loops_json(plan.loops);
    list.back()["pointers"] = pointers_json(plan.pointers);
  }
  return list;
}

// The sizes that may be chosen, in words.
std::string describe(const FreeSizes& free) {
  std::string text;
  for (const FreeExtent& extent : free.extents) {
    const FreeDimension& dimension = free.dimensions[extent.dimension];
    const int64_t factor = extent.outer * extent.inner;
    text += fmt::format(" *   axis {} of {}[{}] is {}{}, from {} to {}\n", extent.axis,
                        extent.is_output ? "outputs" : "inputs", extent.tensor,
                        factor == 1 ? "" : fmt::format("{} x ", factor), comment_safe(dimension.name),
                        dimension.least, dimension.most);
  }
  return text;
}

// By which damage is found.
ordered_json mark_json(std::string_view bytes) {
  return {{"bytes", bytes.size()}, {"hash", hash_to_string(hash_text(bytes))}};
}

}  // namespace

std::string model_header(const Model& model) {
  const std::string prefix = public_prefix(model);
  const int cores = cores_of(model.target);
  std::string text = fmt::format(
      "/* {}, compiled by Lathe for {} on {} core{}. Link with model.so.\n *\n{}{} */\n",
      comment_safe(model.name), model.target.name, cores, cores == 1 ? "" : "s",
      describe("inputs", model.given_inputs()), describe("outputs", model.outputs) + describe(model.free));
  text += model_face_header();
  text += fmt::format(
      "\n#ifndef {0}_H\n#define {0}_H\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n"
      "/* The functions above as this library alone has them: where a program links several\n"
      " * models, those above are the first one's. */\n",
      prefix);
  for (const Function& function : kFunctions)
    text += fmt::format("{}{}_{}({});\n", function.result, prefix, function.name, function.arguments);
  return text + fmt::format("\n#ifdef __cplusplus\n}}\n#endif\n#endif /* {}_H */\n", prefix);
}

std::string model_exports(const Model& model) {
  std::string text = "{ global:";
  for (const std::string& prefix : {std::string("lathe"), public_prefix(model)}) {
    for (const Function& function : kFunctions) text += fmt::format(" {}_{};", prefix, function.name);
  }
  return text + " local: *; };\n";
}

std::string model_manifest(const Model& model, uint64_t build, const std::string& compiler_version,
                           std::optional<std::string_view> library, std::span<const ArtifactFile> files) {
  ordered_json kernels = ordered_json::array();
  for (const CompiledTask& kernel : model.kernels) kernels.push_back(kernel_json(kernel));
  ordered_json manifest = {{"format", 1},
                           {"name", model.name},
                           {"compiler_version", compiler_version},
                           {"target", model.target.name},
                           {"machine", model.target.machine},
                           {"cores", cores_of(model.target)},
                           {"build", hash_to_string(build)},
                           {"inputs", tensors_json(model.given_inputs())},
                           {"outputs", tensors_json(model.outputs)},
                           {"arena_bytes", model.arena_bytes},
                           {"resident_bytes", model.resident_bytes},
                           {"kernels", std::move(kernels)},
                           {"prepares", launches_json(model.prepares)},
                           {"launches", launches_json(model.launches)}};
  if (!model.free.empty()) {
    manifest["free"] = free_json(model.free);
    manifest["plans"] = plans_json(model.smaller);
  }
  if (!model.loops.empty()) {
    manifest["loops"] = loops_json(model.loops);
    manifest["pointers"] = pointers_json(model.pointers);
  }
  if (library) manifest["library"] = mark_json(*library);
  for (const ArtifactFile& file : files) manifest["files"][file.name] = mark_json(file.bytes);
  const auto print = [&] {
    return manifest.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  };
  // The hash of what a reader finds: a name that is no UTF-8 is written as another one.
  manifest["hash"] = manifest_hash(nlohmann::json::parse(print()));
  return print();
}

}  // namespace lathe
