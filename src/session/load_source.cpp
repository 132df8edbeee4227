#include "session/load_source.h"

#include <fmt/format.h>

#include "records/within.h"
#include "tune/exact_specials.h"
#include "tune/select_workloads.h"

namespace lathe {

Result<std::vector<Workload>> load_workloads(const ProgramSource& source) {
  return select_workloads(source.workload, source.filter);
}

Result<std::optional<DType>> precision_of(const ProgramSource& source) {
  if (source.precision.empty()) return std::nullopt;
  const Result<DType> dtype = parse_dtype(source.precision);
  if (dtype && is_storage_only(*dtype)) return *dtype;
  return fail(ErrorKind::invalid_argument,
              fmt::format("'{}' is no precision: bf16 and f16 are", source.precision), "--precision");
}

Result<Network> load_network(const ProgramSource& source, const Target& target) {
  OnnxImportOptions import;
  import.input_shapes = source.input_shapes;
  LATHE_TRY(const std::optional<DType> precision, precision_of(source));
  return load_network(source.model, import, target, source.exact_specials, source.sizes, precision);
}

Result<Task> task_of(const Workload& workload, const Target& target, bool free_layouts, bool exact_specials) {
  LATHE_TRY(Task task, make_task(workload, target, free_layouts));
  if (!exact_specials) return task;
  return within(workload.name, with_exact_specials(std::move(task)));
}

}  // namespace lathe
