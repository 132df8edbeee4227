// The artifact's C face, as model.h declares it for the artifact's users.
#include <exception>
#include <memory>
#include <new>
#include <string>

#include "artifact/runtime/model_runtime.h"

#define LATHE_PUBLIC extern "C" __attribute__((visibility("default")))

struct lathe_model {  // NOLINT(readability-identifier-naming): the name that C code sees
  lathe::RunningModel model;
};

// The C++ library is part of the artifact, and so is its reserve of memory for exceptions: who unloads the
// artifact must not lose it. The library declares this in no header.
namespace __gnu_cxx {
void __freeres();  // NOLINT(bugprone-reserved-identifier,readability-identifier-naming): its name
}

namespace {

__attribute__((destructor)) void free_exception_memory() { __gnu_cxx::__freeres(); }

std::string& last_error() {
  thread_local std::string text;
  return text;
}

// No exception may leave a C function.
template <class Action>
bool succeeds(const Action& action) {
  try {
    action();
    return true;
  } catch (const std::bad_alloc&) {
    last_error() = "there is no memory left";
  } catch (const std::exception& error) {
    last_error() = error.what();
  }
  return false;
}

}  // namespace

LATHE_PUBLIC lathe_model* lathe_open(const char* folder, int cores) {
  std::unique_ptr<lathe_model> opened;
  succeeds([&] {
    if (folder == nullptr) throw lathe::ModelError("the folder's name is null");
    opened.reset(new lathe_model{lathe::RunningModel(lathe_model_tables, folder, cores)});
  });
  return opened.release();
}

LATHE_PUBLIC int lathe_run(lathe_model* model, const void* const* inputs, void* const* outputs) {
  const bool done = succeeds([&] {
    if (model == nullptr) throw lathe::ModelError("the model is null");
    model->model.run(inputs, outputs);
  });
  return done ? 0 : 1;
}

LATHE_PUBLIC const char* lathe_error(void) { return last_error().c_str(); }

LATHE_PUBLIC void lathe_close(lathe_model* model) { delete model; }
