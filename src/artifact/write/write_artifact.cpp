#include "artifact/write/write_artifact.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "artifact/manifest.h"
#include "artifact/runtime/instructions.h"
#include "artifact/weights.h"
#include "artifact/write/cross_compiler.h"
#include "artifact/write/emit_sources.h"
#include "artifact/write/run_program.h"
#include "artifact/write/runtime_bytes.h"
#include "base/json.h"
#include "base/read_file.h"
#include "base/scratch_folder.h"
#include "base/write_file.h"
#include "compile/compile.h"

namespace lathe {
namespace {

namespace fs = std::filesystem;

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

// What programs that are linked with a model look for: a link to its library.
std::string link_name(const Model& model) { return fmt::format("lib{}.so", public_prefix(model)); }

bool is_link_to_library(const fs::path& path) {
  std::error_code error;
  return fs::is_symlink(fs::symlink_status(path, error)) && fs::read_symlink(path, error) == kLibrary;
}

std::string c_file(size_t kernel) { return fmt::format("kernel{}.c", kernel); }

Status write_sources(const Model& model, uint64_t id, const ScratchFolder& build) {
  std::error_code ignored;
  fs::create_directory(build.at("lathe"), ignored);
  LATHE_TRY_STATUS(write_file(build.at("lathe/kernel_abi.h"), {kernel_abi_header()}));
  LATHE_TRY_STATUS(write_file(build.at("model_tables.h"), {model_tables_header()}));
  LATHE_TRY_STATUS(write_file(build.at("lathe/model_face.h"), {model_face_header()}));
  LATHE_TRY_STATUS(write_file(build.at("exports"), {model_exports(model)}));
  return write_file(build.at("tables.cpp"), {model_tables_source(model, id)});
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

using Arguments = std::vector<std::string>;

// For this program's own architecture: the runtime is there already, and so is what stands for the C library.
Status add_archives(const ScratchFolder& build, Arguments& arguments) {
  LATHE_TRY_STATUS(write_file(build.at("runtime.a"), {model_runtime_archive()}));
  arguments.insert(arguments.end(), {"-O1", "-foptimize-sibling-calls", "-Wl,--whole-archive",
                                     as_argument(build.at("runtime.a")), "-Wl,--no-whole-archive"});
  arguments.emplace_back("-Wl,--as-needed");
  for (const SystemLibrary& library : system_libraries()) {
    LATHE_TRY_STATUS(write_file(build.at(library.name), {library.bytes}));
    arguments.push_back(as_argument(build.at(library.name)));
  }
  return {};
}

// For another: the runtime is compiled with it, and linked with the C library that the compiler brings.
Status add_sources(const ScratchFolder& build, Arguments& arguments) {
  arguments.insert(arguments.end(), {"-std=gnu++23", "-O2", "-fno-rtti", "-fno-threadsafe-statics",
                                     "-fno-stack-protector", "-U_FORTIFY_SOURCE"});
  for (const RuntimeSource& source : portable_runtime()) {
    const std::string path = build.at(std::string(source.path));
    std::error_code ignored;
    fs::create_directories(fs::path(path).parent_path(), ignored);
    LATHE_TRY_STATUS(write_file(path, {source.bytes}));
    if (path.ends_with(".cpp")) arguments.push_back(as_argument(path));
  }
  arguments.insert(arguments.end(), {"-Wl,--as-needed", "-lm", "-lc"});
  return {};
}

bool is_of_this_architecture(const Model& model) {
  return find_instructions(model.target.name.c_str()) != nullptr;
}

Result<std::string> compiler_of(const Model& model, const WriteOptions& options) {
  if (is_of_this_architecture(model)) return options.compiler;
  const CrossCompiler* cross = find_cross_compiler(model.target.name);
  if (cross == nullptr)
    return fail(ErrorKind::unsupported,
                fmt::format("no compiler is known that links libraries for '{}'", model.target.name));
  std::string command(cross->command);
  if (run_program({command, "--version"})) return command;
  return fail(ErrorKind::build,
              fmt::format("model.so for {} cannot be linked: there is no {}, which Debian's package {} has",
                          model.target.name, command, cross->package));
}

Status link(const Model& model, const ScratchFolder& build, const WriteOptions& options) {
  LATHE_TRY(std::string compiler, compiler_of(model, options));
  Arguments arguments = {std::move(compiler),
                         "-shared",
                         "-fPIC",
                         "-fno-exceptions",
                         "-nostdlib",
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
  const auto add = [&](std::initializer_list<std::string> more) {
    arguments.insert(arguments.end(), more.begin(), more.end());
  };
  LATHE_TRY_STATUS(is_of_this_architecture(model) ? add_archives(build, arguments)
                                                  : add_sources(build, arguments));
  add({"-lgcc", "-Wl,--no-undefined", "-Wl,-soname," + link_name(model),
       // Which glibc 2.36 alone reads, and some compilers ask for.
       "-Wl,-z,nopack-relative-relocs",
       // As one word of its own: a path may hold commas.
       "-Xlinker", "--version-script=" + as_argument(build.at("exports"))});
  return run_compiler(arguments);
}

// A file of that name that is no such link is somebody else's.
Status make_link(const ScratchFolder& build, const std::string& folder, const std::string& name) {
  std::error_code error;
  const std::string path = fmt::format("{}/{}", folder, name);
  if (fs::exists(fs::symlink_status(path, error)) && !is_link_to_library(path))
    return fail(ErrorKind::io, "the link to model.so cannot be made: there is a file of its name", path);
  fs::create_symlink(kLibrary, build.at(name), error);
  if (!error) return {};
  return fail(ErrorKind::io, fmt::format("the link to model.so cannot be made: {}", error.message()), path);
}

bool is_manifest_of_lathe(const std::string& path) {
  const Result<std::string> text = read_file(path);
  if (!text) return false;
  const Result<nlohmann::json> manifest = parse_json(*text, path);
  return manifest && manifest->is_object() && manifest->contains("format") &&
         (*manifest)["format"].is_number_integer();
}

// The artifact that lies in the folder, of whatever form: what runs goes first, the manifest stays.
Status remove_old(const std::string& folder) {
  std::error_code error;
  if (!fs::exists(folder + "/" + kManifest, error)) return {};
  std::vector<std::string> names = {kWeights};
  for (size_t i = 0; fs::exists(folder + "/" + c_file(i), error); ++i) names.push_back(c_file(i));
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    if (is_link_to_library(entry->path())) names.push_back(entry->path().filename().string());
  }
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

// Of every artifact, in either form.
std::vector<std::string> first_names() { return {kManifest, kWeights, kHeader, kLibrary, c_file(0)}; }

}  // namespace

std::vector<std::string> artifact_file_names(const std::string& folder) {
  std::vector<std::string> names = first_names();
  std::error_code error;
  for (size_t i = 1; fs::exists(folder + "/" + c_file(i), error); ++i) names.push_back(c_file(i));
  return names;
}

Status check_folder(const std::string& folder) {
  const bool is_ours = is_manifest_of_lathe(folder + "/" + kManifest);
  for (const std::string& name : first_names()) {
    std::error_code error;
    const std::string path = fmt::format("{}/{}", folder, name);
    const fs::file_type type = fs::symlink_status(path, error).type();
    if (type == fs::file_type::directory)
      return fail(ErrorKind::io, "a folder is in the way of the artifact's file", path);
    if (type != fs::file_type::not_found && type != fs::file_type::none && !is_ours)
      return fail(ErrorKind::io,
                  fmt::format("the file is no artifact's, as no {} of Lathe lies beside it, and would be "
                              "replaced: give another folder, or remove it",
                              kManifest),
                  path);
  }
  return {};
}

Status add_to_manifest(const std::string& folder, const std::string& key,
                       const nlohmann::ordered_json& value) {
  const std::string path = folder + "/" + kManifest;
  LATHE_TRY(const std::string text, read_file(path));
  LATHE_TRY([[maybe_unused]] const nlohmann::json checked, parse_json(text, path));
  auto manifest = nlohmann::ordered_json::parse(text);
  manifest.erase("hash");
  manifest[key] = value;
  manifest["hash"] = manifest_hash(nlohmann::json::parse(manifest.dump()));
  return write_file(path, {manifest.dump(1, ' '), "\n"});
}

Status check_compiler(const WriteOptions& options) { return run_compiler({options.compiler, "--version"}); }

Status write_artifact(Model model, const std::string& folder, const WriteOptions& options) {
  LATHE_TRY_STATUS(check_folder(folder));
  const ArtifactFolder made(folder);
  LATHE_TRY(const ScratchFolder build, ScratchFolder::create(folder));
  LATHE_TRY(const uint64_t id, write_weights(model, build.at(kWeights)));
  LATHE_TRY_STATUS(write_sources(model, id, build));
  LATHE_TRY_STATUS(link(model, build, options));
  LATHE_TRY(const std::string library, read_file(build.at(kLibrary)));
  const std::string header = model_header(model);
  LATHE_TRY_STATUS(write_file(build.at(kHeader), {header}));
  const std::array<ArtifactFile, 2> files = {{{kHeader, header}, {link_name(model), library}}};
  LATHE_TRY_STATUS(
      write_file(build.at(kManifest), {model_manifest(model, id, options.compiler_version, library, files)}));
  LATHE_TRY_STATUS(make_link(build, folder, link_name(model)));
  return replace(build, folder, {kHeader, kLibrary, link_name(model)});
}

Status write_c_sources(Model model, const std::string& folder, const WriteOptions& options) {
  LATHE_TRY_STATUS(check_folder(folder));
  const ArtifactFolder made(folder);
  LATHE_TRY(const ScratchFolder build, ScratchFolder::create(folder));
  LATHE_TRY(const uint64_t id, write_weights(model, build.at(kWeights)));
  std::vector<std::string> names;
  std::vector<std::string> texts;
  for (size_t i = 0; i < model.kernels.size(); ++i) {
    const CompiledTask& kernel = model.kernels[i];
    CompileOptions compiling;
    compiling.symbol_prefix = symbol_prefix(i);
    LATHE_TRY(std::string text, emit_text(kernel.task, kernel.trace, "c", compiling));
    LATHE_TRY_STATUS(write_file(build.at(c_file(i)), {text}));
    names.push_back(c_file(i));
    texts.push_back(std::move(text));
  }
  std::vector<ArtifactFile> files;
  for (size_t i = 0; i < names.size(); ++i) files.push_back({names[i], texts[i]});
  LATHE_TRY_STATUS(write_file(build.at(kManifest),
                              {model_manifest(model, id, options.compiler_version, std::nullopt, files)}));
  return replace(build, folder, std::move(names));
}

}  // namespace lathe
