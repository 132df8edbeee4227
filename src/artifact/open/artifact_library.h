// An artifact's model.so in this process, checked against its manifest before anything of it runs. Owns the
// library; movable.
#pragma once

#include <memory>
#include <string>

#include "artifact/manifest.h"
#include "base/result.h"
#include "lathe/model_face.h"

namespace lathe {

class ArtifactLibrary {
 public:
  // An Error where the folder has no library, it is damaged, or it is not the manifest's.
  static Result<ArtifactLibrary> load(const std::string& folder, const Manifest& manifest);

  // The functions of the C face.
  decltype(&lathe_open) open = nullptr;
  decltype(&lathe_run) run = nullptr;
  decltype(&lathe_error) error = nullptr;
  decltype(&lathe_close) close = nullptr;
  decltype(&lathe_interface) interface = nullptr;
  decltype(&lathe_run_timed) run_timed = nullptr;  // null: of a Lathe whose libraries have none
  decltype(&lathe_run_sized) run_sized = nullptr;  // null: likewise, and none has free sizes
  decltype(&lathe_output_shapes) output_shapes = nullptr;

 private:
  struct Unload {
    void operator()(void* library) const;
  };
  template <class Function>
  Status find(const std::string& path, const char* name, Function& function) const;

  std::unique_ptr<void, Unload> library_;
};

}  // namespace lathe
