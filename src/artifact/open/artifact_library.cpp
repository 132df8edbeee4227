#include "artifact/open/artifact_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

#include "base/read_file.h"

namespace lathe {

void ArtifactLibrary::Unload::operator()(void* library) const { dlclose(library); }

template <class Function>
Status ArtifactLibrary::find(const std::string& path, const char* name, Function& function) const {
  function = reinterpret_cast<Function>(dlsym(library_.get(), name));
  if (function != nullptr) return {};
  return fail(
      ErrorKind::load,
      fmt::format("the library does not define {}: it is none of this Lathe's, compile it again", name),
      path);
}

Result<ArtifactLibrary> ArtifactLibrary::load(const std::string& folder, const Manifest& manifest) {
  const std::string path = std::filesystem::absolute(folder).string() + "/model.so";
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    const bool has_sources = std::filesystem::exists(folder + "/kernel0.c", ignored);
    return fail(ErrorKind::not_found,
                has_sources
                    ? "this artifact holds C sources in place of model.so: compile it without --emit c "
                      "to run it"
                    : "the artifact has no model.so: it was not written to its end, or a file was removed",
                folder);
  }
  LATHE_TRY(const std::string bytes, read_regular_file(path));
  LATHE_TRY_STATUS(check_library(bytes, manifest.library, path));
  if (!is_of_this_architecture(manifest)) {
    return fail(ErrorKind::unsupported,
                fmt::format("the model was compiled for {}, which is not this machine's architecture",
                            manifest.target),
                folder);
  }
  ArtifactLibrary library;
  library.library_.reset(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (library.library_ == nullptr)
    return fail(ErrorKind::load, fmt::format("the model cannot be loaded: {}", dlerror()));
  LATHE_TRY_STATUS(library.find(path, "lathe_open", library.open));
  LATHE_TRY_STATUS(library.find(path, "lathe_run", library.run));
  LATHE_TRY_STATUS(library.find(path, "lathe_error", library.error));
  LATHE_TRY_STATUS(library.find(path, "lathe_close", library.close));
  LATHE_TRY_STATUS(library.find(path, "lathe_interface", library.interface));
  library.run_timed =
      reinterpret_cast<decltype(&lathe_run_timed)>(dlsym(library.library_.get(), "lathe_run_timed"));
  if (!manifest.free.empty()) {
    LATHE_TRY_STATUS(library.find(path, "lathe_run_sized", library.run_sized));
    LATHE_TRY_STATUS(library.find(path, "lathe_output_shapes", library.output_shapes));
  }
  LATHE_TRY_STATUS(check_interface(manifest, *library.interface(), path));
  return library;
}

}  // namespace lathe
