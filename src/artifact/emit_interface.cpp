#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "artifact/emit_sources.h"
#include "artifact/manifest.h"
#include "base/hash.h"
#include "expr/print.h"

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

std::string describe(const char* list, const std::vector<ModelTensor>& tensors) {
  std::string text;
  for (size_t i = 0; i < tensors.size(); ++i) {
    text += fmt::format(" *   {}[{}]  {}: {}[{}]{}\n", list, i, comment_safe(tensors[i].name),
                        to_string(tensors[i].dtype), fmt::join(tensors[i].shape, ", "),
                        tensors[i].is_constant ? ", constant" : "");
  }
  return text;
}

constexpr const char* kFunctions = R"(#ifndef LATHE_MODEL_H
#define LATHE_MODEL_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lathe_model lathe_model;

/* Opens the artifact in `folder` on at most `cores` cores, 0: as many as it was compiled for. NULL on failure. */
lathe_model* lathe_open(const char* folder, int cores);

/* Runs the model once: 0 on success. Tensors are row-major and packed; those at addresses that are multiples
 * of 64 are used where they lie, others are copied. A constant input is compared with what it was in the last
 * run and prepared anew only where it differs; NULL in its place stands for "as in the last run". */
int lathe_run(lathe_model* model, const void* const* inputs, void* const* outputs);

/* What went wrong in this thread's last call that failed. */
const char* lathe_error(void);

void lathe_close(lathe_model* model);

#ifdef __cplusplus
}
#endif
#endif /* LATHE_MODEL_H */
)";

ordered_json tensors_json(const std::vector<ModelTensor>& tensors) {
  ordered_json list = ordered_json::array();
  for (const ModelTensor& tensor : tensors) {
    ordered_json entry = {{"name", tensor.name}, {"type", to_string(tensor.dtype)}, {"shape", tensor.shape}};
    if (tensor.is_constant) entry["constant"] = true;
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
    case ModelStorage::resident: break;
  }
  return "resident";
}

ordered_json launches_json(const std::vector<ModelLaunch>& launches) {
  ordered_json list = ordered_json::array();
  for (const ModelLaunch& launch : launches) {
    ordered_json buffers = ordered_json::array();
    for (const ModelBinding& binding : launch.buffers) {
      buffers.push_back({{"storage", storage_name(binding.storage)}, {"place", binding.place}});
    }
    list.push_back({{"name", launch.name}, {"kernel", launch.kernel}, {"buffers", std::move(buffers)}});
  }
  return list;
}

ordered_json kernel_json(const CompiledTask& kernel) {
  ordered_json entry = {{"symbol", kernel.module.kernel_symbol},
                        {"task", hash_to_string(hash_of(kernel.task))},
                        {"name", kernel.task.name},
                        {"dag", to_string(kernel.task.dag)},
                        {"trace", to_string(kernel.trace)},
                        {"record", nullptr}};
  if (kernel.record) entry["record"] = *kernel.record;
  entry["workspace_bytes"] = kernel.module.workspace_bytes;
  if (!kernel.module.prepare_symbol.empty()) entry["prepare"] = kernel.module.prepare_symbol;
  return entry;
}

}  // namespace

std::string model_header(const Model& model) {
  return fmt::format(
             "/* {}, compiled by Lathe for {} on {} core{}. Link with model.so. One model serves one thread\n"
             " * at a time.\n *\n{}{} */\n",
             comment_safe(model.name), model.target.name, model.cores, model.cores == 1 ? "" : "s",
             describe("inputs", model.inputs), describe("outputs", model.outputs)) +
         kFunctions;
}

std::string model_manifest(const Model& model, const std::string& compiler_version,
                           std::optional<std::string_view> library) {
  ordered_json kernels = ordered_json::array();
  for (const CompiledTask& kernel : model.kernels) kernels.push_back(kernel_json(kernel));
  ordered_json manifest = {{"format", 1},
                           {"name", model.name},
                           {"compiler_version", compiler_version},
                           {"target", model.target.name},
                           {"machine", model.target.machine},
                           {"cores", model.cores},
                           {"inputs", tensors_json(model.inputs)},
                           {"outputs", tensors_json(model.outputs)},
                           {"arena_bytes", model.arena_bytes},
                           {"resident_bytes", model.resident_bytes},
                           {"kernels", std::move(kernels)},
                           {"prepares", launches_json(model.prepares)},
                           {"launches", launches_json(model.launches)}};
  if (library) {
    manifest["library"] = {{"bytes", library->size()}, {"hash", hash_to_string(hash_text(*library))}};
  }
  const auto print = [&] {
    return manifest.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  };
  // The hash of what a reader finds: a name that is no UTF-8 is written as another one.
  manifest["hash"] = manifest_hash(nlohmann::json::parse(print()));
  return print();
}

}  // namespace lathe
