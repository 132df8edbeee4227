#include "artifact/write_artifact.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "artifact/emit_sources.h"
#include "artifact/run_program.h"
#include "artifact/runtime_bytes.h"
#include "base/read_file.h"
#include "base/scratch_folder.h"
#include "base/write_file.h"
#include "compile/compile.h"

namespace lathe {
namespace {

namespace fs = std::filesystem;

// Only the C face can be seen from outside, so that several artifacts live in one process.
constexpr const char* kExports = "{ global: lathe_open; lathe_run; lathe_error; lathe_close; local: *; };\n";

constexpr const char* kLibrary = "model.so";
constexpr const char* kHeader = "model.h";
constexpr const char* kWeights = "weights.bin";
constexpr const char* kManifest = "manifest.json";

// The folder of an artifact: one that is made for it goes again where nothing comes to lie in it.
class ArtifactFolder {
 public:
  explicit ArtifactFolder(const std::string& path)
      : path_(path), is_new_(!fs::exists(fs::symlink_status(path, ignored_))) {}
  ~ArtifactFolder() {
    if (is_new_) fs::remove(path_, ignored_);  // never one that holds something
  }
  ArtifactFolder(const ArtifactFolder&) = delete;
  ArtifactFolder& operator=(const ArtifactFolder&) = delete;

 private:
  std::error_code ignored_;
  std::string path_;
  bool is_new_;
};

std::string c_file(size_t kernel) { return fmt::format("kernel{}.c", kernel); }

Status write_sources(const Model& model, const ScratchFolder& build) {
  std::error_code ignored;
  fs::create_directory(build.at("lathe"), ignored);
  LATHE_TRY_STATUS(write_file(build.at("lathe/kernel_abi.h"), {kernel_abi_header()}));
  LATHE_TRY_STATUS(write_file(build.at("model_tables.h"), {model_tables_header()}));
  LATHE_TRY_STATUS(write_file(build.at("runtime.a"), {model_runtime_archive()}));
  LATHE_TRY_STATUS(write_file(build.at("exports"), {kExports}));
  return write_file(build.at("tables.cpp"), {model_tables_source(model)});
}

Status run_compiler(const std::vector<std::string>& arguments) {
  const Status done = run_program(arguments);
  if (done.has_value()) return {};
  Error error = done.error();
  error.message = fmt::format("model.so cannot be linked: the C++ compiler {}", error.message);
  return std::unexpected(std::move(error));
}

// A path that the compiler takes for one, and not for an option or a file of options.
std::string as_argument(const std::string& path) { return path.starts_with('/') ? path : "./" + path; }

Status link(const Model& model, const ScratchFolder& build, const WriteOptions& options) {
  std::vector<std::string> arguments = {options.compiler,
                                        "-shared",
                                        "-fPIC",
                                        "-O1",
                                        "-pthread",
                                        "-w",
                                        "-s",
                                        "-I" + as_argument(build.at("")),
                                        "-o",
                                        as_argument(build.at(kLibrary)),
                                        as_argument(build.at("tables.cpp"))};
  for (size_t i = 0; i < model.kernels.size(); ++i) {
    const std::string path = build.at(fmt::format("kernel{}.o", i));
    LATHE_TRY_STATUS(write_file(path, {model.kernels[i].module.object}));
    arguments.push_back(as_argument(path));
  }
  for (const std::string& argument :
       {std::string("-Wl,--whole-archive"), as_argument(build.at("runtime.a")),
        std::string("-Wl,--no-whole-archive"), std::string("-static-libstdc++"),
        std::string("-static-libgcc"), std::string("-Wl,--no-undefined"), std::string("-Wl,-soname,model.so"),
        // As one word of its own: a path may hold commas.
        std::string("-Xlinker"), "--version-script=" + as_argument(build.at("exports"))}) {
    arguments.push_back(argument);
  }
  return run_compiler(arguments);
}

// What both forms have; `library` is what model.so holds, where there is one.
Status write_data(const Model& model, const ScratchFolder& build, const WriteOptions& options,
                  std::optional<std::string_view> library) {
  LATHE_TRY_STATUS(write_file(build.at(kWeights), {model.weights}));
  return write_file(build.at(kManifest), {model_manifest(model, options.compiler_version, library)});
}

// The artifact that lies in the folder, of whatever form: what runs goes first, the manifest stays. A folder
// without a manifest holds no artifact, and a file there that has one of these names is somebody else's.
Status remove_old(const std::string& folder) {
  std::error_code error;
  if (!fs::exists(folder + "/" + kManifest, error)) return {};
  std::vector<std::string> names = {kWeights};
  for (size_t i = 0; fs::exists(folder + "/" + c_file(i), error); ++i) names.push_back(c_file(i));
  names.insert(names.end(), {kHeader, kLibrary});
  // From the last kernel down: whatever is left when this is cut short is found by the next.
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    const std::string path = fmt::format("{}/{}", folder, *name);
    fs::remove(path, error);
    if (error) {
      return fail(ErrorKind::io, fmt::format("the file cannot be removed: {}", error.message()), path);
    }
  }
  return {};
}

// Puts an artifact in the place of the one before. A kill between leaves one that lacks a file; where another
// process writes there too, files of two, which their manifest tells apart.
Status replace(const ScratchFolder& build, const std::string& folder, std::vector<std::string> names) {
  LATHE_TRY_STATUS(remove_old(folder));
  names.insert(names.begin(), {kManifest, kWeights});
  for (const std::string& name : names) {
    std::error_code error;
    const std::string path = fmt::format("{}/{}", folder, name);
    fs::rename(build.at(name), path, error);
    if (error) {
      return fail(ErrorKind::io, fmt::format("the file cannot be written: {}", error.message()), path);
    }
  }
  return {};
}

}  // namespace

std::vector<std::string> artifact_file_names() { return {kManifest, kWeights, kHeader, kLibrary}; }

Status check_compiler(const WriteOptions& options) { return run_compiler({options.compiler, "--version"}); }

Status write_artifact(const Model& model, const std::string& folder, const WriteOptions& options) {
  const ArtifactFolder made(folder);
  LATHE_TRY(const ScratchFolder build, ScratchFolder::create(folder));
  LATHE_TRY_STATUS(write_sources(model, build));
  LATHE_TRY_STATUS(link(model, build, options));
  LATHE_TRY(const std::string library, read_file(build.at(kLibrary)));
  LATHE_TRY_STATUS(write_data(model, build, options, library));
  LATHE_TRY_STATUS(write_file(build.at(kHeader), {model_header(model)}));
  return replace(build, folder, {kHeader, kLibrary});
}

Status write_c_sources(const Model& model, const std::string& folder, const WriteOptions& options) {
  const ArtifactFolder made(folder);
  LATHE_TRY(const ScratchFolder build, ScratchFolder::create(folder));
  std::vector<std::string> names;
  for (size_t i = 0; i < model.kernels.size(); ++i) {
    const CompiledTask& kernel = model.kernels[i];
    CompileOptions compiling;
    compiling.symbol_prefix = symbol_prefix(i);
    LATHE_TRY(const std::string text, emit_text(kernel.task, kernel.trace, CodeForm::c, compiling));
    LATHE_TRY_STATUS(write_file(build.at(c_file(i)), {text}));
    names.push_back(c_file(i));
  }
  LATHE_TRY_STATUS(write_data(model, build, options, std::nullopt));
  return replace(build, folder, std::move(names));
}

}  // namespace lathe
