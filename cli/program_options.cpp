#include <fmt/format.h>

#include <charconv>

#include "cli/command.h"
#include "target/all.h"
#include "target/detect.h"

namespace lathe::cli {
namespace {

std::unexpected<Error> bad_input(const std::string& text) {
  return fail(ErrorKind::invalid_argument,
              fmt::format("'{}' is no input shape, it must look like NAME=1,3,224,224", text), "--input");
}

Result<std::pair<std::string, Shape>> parse_input(const std::string& text) {
  const size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) return bad_input(text);
  Shape shape;
  const char* at = text.data() + equals + 1;
  const char* const end = text.data() + text.size();
  while (true) {
    int64_t extent = 0;
    const auto [next, code] = std::from_chars(at, end, extent);
    if (code != std::errc() || extent < 1) return bad_input(text);
    shape.push_back(extent);
    if (next == end) return std::pair(text.substr(0, equals), shape);
    if (*next != ',') return bad_input(text);
    at = next + 1;
  }
}

std::unexpected<Error> at_option(Error error, const char* option) {
  if (error.where.empty()) error.where = option;
  return std::unexpected(std::move(error));
}

}  // namespace

void add_program_options(OptionSet& command, ProgramOptions& options) {
  command.text("MODEL", options.model, "an ONNX model");
  command.texts("--input", options.inputs, "the shapes of inputs, NAME=1,3,640,640, in place of the model's");
  command.text("--workload", options.workload, "a JSON file of operators, in place of a model");
  add_workload_options(command, options);
}

void add_workload_options(OptionSet& command, ProgramOptions& options) {
  command.text("--filter", options.filter, "only the operators whose names match this expression",
               {.may_be_empty = true});
  command.text("--target", options.target, "one of " + target_names(), {.shows_default = true});
  command.number("--cores", options.cores, "how many cores; default: all that this process may use",
                 {1, 4096});
  command.flag("--exact-specials", options.exact_specials,
               "no program in which an infinity or NaN reaches results beside those that read it");
}

Status check(const ProgramOptions& options) {
  if (options.model.empty() && options.workload.empty()) {
    return fail(ErrorKind::invalid_argument, "nothing to work on: give MODEL.onnx or --workload FILE.json");
  }
  if (!options.model.empty() && !options.workload.empty()) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("give either a model or --workload, not both: '{}' and '{}'", options.model,
                            options.workload));
  }
  if (options.model.ends_with(".json")) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("a file of operators is given by --workload: --workload {0}", options.model),
                options.model);
  }
  if (!options.model.empty() && !options.filter.empty()) {
    return fail(ErrorKind::invalid_argument, "only the entries of --workload can be filtered", "--filter");
  }
  if (!options.workload.empty() && !options.inputs.empty()) {
    return fail(ErrorKind::invalid_argument, "only the inputs of a model can be given shapes", "--input");
  }
  return {};
}

std::vector<NamedFile> files_read(const ProgramOptions& options, const std::string& records) {
  std::vector<NamedFile> files = {{"MODEL", options.model}, {"--workload", options.workload}};
  if (records.empty()) return files;
  files.push_back({"--records", records});
  // SQLite keeps a log and its index beside the file itself while it is open, whatever link leads there.
  const std::string file = end_of_links(records);
  for (const char* part : {"-wal", "-shm"}) files.push_back({"--records", file + part});
  return files;
}

std::vector<NamedFile> data_files(const Graph& graph) {
  std::vector<NamedFile> files;
  for (const std::string& file : graph.data_files) files.push_back({"the model's data", file});
  return files;
}

Result<Target> target_of(const ProgramOptions& options) {
  Result<Target> target = parse_target(options.target);
  if (!target) return at_option(std::move(target.error()), "--target");
  if (options.cores != 0) target = with_cores(std::move(*target), options.cores);
  const int allowed = static_cast<int>(allowed_cpus().size());
  if (cores_of(*target) <= allowed || !check_runs_here(*target)) return target;
  return fail(
      ErrorKind::invalid_argument,
      fmt::format("{} cores are more than the {} that this process may use", cores_of(*target), allowed),
      "--cores");
}

Result<Target> target_here(const ProgramOptions& options) {
  LATHE_TRY(Target target, target_of(options));
  const Status runs = check_runs_here(target);
  if (!runs) return at_option(runs.error(), "--target");
  return target;
}

Result<OnnxImportOptions> import_options(const ProgramOptions& options) {
  OnnxImportOptions import;
  for (const std::string& text : options.inputs) {
    LATHE_TRY(auto input, parse_input(text));
    if (!import.input_shapes.insert(std::move(input)).second) {
      return fail(ErrorKind::invalid_argument, fmt::format("'{}' gives a shape a second time", text),
                  "--input");
    }
  }
  return import;
}

}  // namespace lathe::cli
