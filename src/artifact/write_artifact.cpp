#include "artifact/write_artifact.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "artifact/emit_sources.h"
#include "artifact/run_program.h"
#include "artifact/runtime_bytes.h"
#include "compile/compile.h"

namespace lathe {
namespace {

namespace fs = std::filesystem;

// Only the C face can be seen from outside, so that several artifacts live in one process.
constexpr const char* kExports = "{ global: lathe_open; lathe_run; lathe_error; lathe_close; local: *; };\n";
constexpr const char* kFiles[] = {"weights.bin", "manifest.json", "model.h", "model.so"};

// A folder inside the artifact's for what is being made; it goes with this object.
class BuildFolder {
 public:
  static Result<BuildFolder> create(const std::string& parent) {
    std::error_code error;
    fs::create_directories(parent, error);
    if (error) {
      return fail(ErrorKind::io, fmt::format("the folder cannot be made: {}", error.message()), parent);
    }
    std::string name = parent + "/.build-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) {
      return fail(ErrorKind::io, fmt::format("the folder cannot be written: {}", strerror(errno)), parent);
    }
    return BuildFolder(std::move(name));
  }

  explicit BuildFolder(std::string path) : path_(std::move(path)) {}
  BuildFolder(BuildFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  BuildFolder& operator=(BuildFolder&&) = delete;
  ~BuildFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }

  std::string at(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

Status write_file(const std::string& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (file) return {};
  return fail(ErrorKind::io, fmt::format("the file cannot be written: {}", strerror(errno)), path);
}

Status write_sources(const Model& model, const BuildFolder& build) {
  std::error_code ignored;
  fs::create_directory(build.at("lathe"), ignored);
  LATHE_TRY_STATUS(write_file(build.at("lathe/kernel_abi.h"), kernel_abi_header()));
  LATHE_TRY_STATUS(write_file(build.at("model_tables.h"), model_tables_header()));
  LATHE_TRY_STATUS(write_file(build.at("runtime.a"), model_runtime_archive()));
  LATHE_TRY_STATUS(write_file(build.at("exports"), kExports));
  return write_file(build.at("tables.cpp"), model_tables_source(model));
}

Status link(const Model& model, const BuildFolder& build, const WriteOptions& options) {
  std::vector<std::string> arguments = {options.compiler,
                                        "-shared",
                                        "-fPIC",
                                        "-O1",
                                        "-pthread",
                                        "-w",
                                        "-s",
                                        "-I" + build.at(""),
                                        "-o",
                                        build.at("model.so"),
                                        build.at("tables.cpp")};
  for (size_t i = 0; i < model.kernels.size(); ++i) {
    const std::string path = build.at(fmt::format("kernel{}.o", i));
    LATHE_TRY_STATUS(write_file(path, model.kernels[i].module.object));
    arguments.push_back(path);
  }
  for (const std::string& argument :
       {std::string("-Wl,--whole-archive"), build.at("runtime.a"), std::string("-Wl,--no-whole-archive"),
        std::string("-static-libstdc++"), std::string("-static-libgcc"), std::string("-Wl,--no-undefined"),
        std::string("-Wl,-soname,model.so"), "-Wl,--version-script=" + build.at("exports")}) {
    arguments.push_back(argument);
  }
  const Status linked = run_program(arguments, build.at("messages"));
  if (linked.has_value()) return {};
  Error error = linked.error();
  error.message = fmt::format(
      "model.so cannot be linked: {}, which must be a C++ compiler with its libraries", error.message);
  return std::unexpected(std::move(error));
}

}  // namespace

Status write_artifact(const Model& model, const std::string& folder, const WriteOptions& options) {
  LATHE_TRY(const BuildFolder build, BuildFolder::create(folder));
  LATHE_TRY_STATUS(write_sources(model, build));
  LATHE_TRY_STATUS(link(model, build, options));
  LATHE_TRY_STATUS(write_file(build.at("weights.bin"), model.weights));
  LATHE_TRY_STATUS(write_file(build.at("manifest.json"), model_manifest(model, options.compiler_version)));
  LATHE_TRY_STATUS(write_file(build.at("model.h"), model_header(model)));
  for (const char* name : kFiles) {
    std::error_code error;
    const std::string path = folder + "/" + name;
    fs::rename(build.at(name), path, error);
    if (error)
      return fail(ErrorKind::io, fmt::format("the file cannot be written: {}", error.message()), path);
  }
  return {};
}

Status write_c_sources(const Model& model, const std::string& folder, const WriteOptions& options) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    return fail(ErrorKind::io, fmt::format("the folder cannot be made: {}", error.message()), folder);
  for (size_t i = 0; i < model.kernels.size(); ++i) {
    const CompiledTask& kernel = model.kernels[i];
    CompileOptions compiling;
    compiling.symbol_prefix = symbol_prefix(i);
    LATHE_TRY(const std::string text, emit_text(kernel.task, kernel.trace, CodeForm::c, compiling));
    LATHE_TRY_STATUS(write_file(fmt::format("{}/kernel{}.c", folder, i), text));
  }
  LATHE_TRY_STATUS(write_file(folder + "/weights.bin", model.weights));
  return write_file(folder + "/manifest.json", model_manifest(model, options.compiler_version));
}

}  // namespace lathe
