// The runtime's side of the artifact's C face (model_face.h), which each library shows under names of its
// own.
#include <cstdlib>
#include <new>

#include "artifact/runtime/model_runtime.h"
#include "artifact/runtime/sized_model.h"

struct lathe_model {  // NOLINT(readability-identifier-naming): the name that C code sees
  // First, whatever Lathe made the library: by it another library's model is told.
  const LatheModelTables* tables = &lathe_model_tables;
  lathe::RunningModel running;
  lathe::SizedModel sized;  // of free sizes, else empty
};

namespace {

void destroy(lathe_model* model) {
  model->~lathe_model();
  std::free(model);
}

bool is_ours(const lathe_model* model) {
  if (model == nullptr) return lathe::model_error("the model is null");
  if (model->tables == &lathe_model_tables) return true;
  return lathe::model_error("the model was opened by the library of another model than '%s'",
                            lathe_model_tables.info.name);
}

}  // namespace

lathe_model* model_runtime_open(const char* folder, const lathe_open_options* options) {
  if (folder == nullptr) {
    lathe::model_error("the folder's name is null");
    return nullptr;
  }
  void* memory = nullptr;
  if (posix_memalign(&memory, alignof(lathe_model), sizeof(lathe_model)) != 0) {
    lathe::model_error("there is no memory left");
    return nullptr;
  }
  auto* const model = new (memory) lathe_model;
  if (model->running.open(lathe_model_tables, folder, options) &&
      model->sized.open(lathe_model_tables, model->running))
    return model;
  destroy(model);
  return nullptr;
}

int model_runtime_run(lathe_model* model, const void* const* inputs, void* const* outputs) {
  if (!is_ours(model)) return 1;
  if (!model->sized.is_empty()) return model->sized.run(inputs, nullptr, outputs, nullptr) ? 0 : 1;
  return model->running.run(inputs, outputs) ? 0 : 1;
}

int model_runtime_run_sized(lathe_model* model, const void* const* inputs, const int64_t* const* input_shapes,
                            void* const* outputs) {
  return is_ours(model) && model->sized.run(inputs, input_shapes, outputs, nullptr) ? 0 : 1;
}

int model_runtime_output_shapes(lathe_model* model, const int64_t* const* input_shapes,
                                int64_t* const* output_shapes) {
  return is_ours(model) && model->sized.output_shapes(input_shapes, output_shapes) ? 0 : 1;
}

int model_runtime_run_timed(lathe_model* model, const void* const* inputs, void* const* outputs,
                            lathe_run_times* times) {
  if (!is_ours(model)) return 1;
  if (!model->sized.is_empty()) return model->sized.run(inputs, nullptr, outputs, times) ? 0 : 1;
  return model->running.run_timed(inputs, outputs, times) ? 0 : 1;
}

const char* model_runtime_error() { return lathe::last_model_error(); }

void model_runtime_close(lathe_model* model) {
  if (model != nullptr && is_ours(model)) destroy(model);
}
