#include "session/program_source.h"

#include <fmt/format.h>

#include "target/all.h"
#include "target/detect.h"

namespace lathe {
namespace {

std::unexpected<Error> at_option(Error error, const char* option) {
  if (error.where.empty()) error.where = option;
  return std::unexpected(std::move(error));
}

}  // namespace

Status check_source(const ProgramSource& source) {
  if (source.model.empty() && source.workload.empty()) {
    return fail(ErrorKind::invalid_argument, "nothing to work on: give MODEL.onnx or --workload FILE.json");
  }
  if (!source.model.empty() && !source.workload.empty()) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("give either a model or --workload, not both: '{}' and '{}'", source.model,
                            source.workload));
  }
  if (source.model.ends_with(".json")) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("a file of operators is given by --workload: --workload {0}", source.model),
                source.model);
  }
  if (source.workload.ends_with(".onnx")) {
    return fail(ErrorKind::invalid_argument, "a model is given without --workload", source.workload);
  }
  if (!source.model.empty() && !source.filter.empty()) {
    return fail(ErrorKind::invalid_argument, "only the entries of --workload can be filtered", "--filter");
  }
  if (!source.workload.empty() && source.sizes.batch) {
    return fail(ErrorKind::invalid_argument, "only a model has a batch that can be changed", "--batch");
  }
  if (!source.workload.empty() && !source.input_shapes.empty()) {
    return fail(ErrorKind::invalid_argument, "only the inputs of a model can be given shapes", "--input");
  }
  if (!source.workload.empty() && !source.precision.empty()) {
    return fail(ErrorKind::invalid_argument,
                "only a model is given a precision; the types of operators stand in their file",
                "--precision");
  }
  return {};
}

std::vector<NamedFile> files_read(const ProgramSource& source, const std::string& records) {
  std::vector<NamedFile> files = {{"MODEL", source.model}, {"--workload", source.workload}};
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

Result<Target> target_of(const ProgramSource& source) {
  Result<Target> target = parse_target(source.target);
  if (!target) return at_option(std::move(target.error()), "--target");
  if (source.cores != 0) target = with_cores(std::move(*target), source.cores);
  const int allowed = static_cast<int>(allowed_cpus().size());
  if (cores_of(*target) <= allowed || !check_runs_here(*target)) return target;
  return fail(
      ErrorKind::invalid_argument,
      fmt::format("{} cores are more than the {} that this process may use", cores_of(*target), allowed),
      "--cores");
}

Result<Target> target_here(const ProgramSource& source) {
  LATHE_TRY(Target target, target_of(source));
  const Status runs = check_runs_here(target);
  if (!runs) return at_option(runs.error(), "--target");
  return target;
}

}  // namespace lathe
