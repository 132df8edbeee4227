#include "session/load_source.h"

#include "records/within.h"
#include "tune/exact_specials.h"
#include "tune/select_workloads.h"

namespace lathe {

Result<std::vector<Workload>> load_workloads(const ProgramSource& source) {
  return select_workloads(source.workload, source.filter);
}

Result<Network> load_network(const ProgramSource& source, const Target& target) {
  OnnxImportOptions import;
  import.input_shapes = source.input_shapes;
  return load_network(source.model, import, target, source.exact_specials, source.sizes);
}

Result<Task> task_of(const Workload& workload, const Target& target, bool free_layouts, bool exact_specials) {
  LATHE_TRY(Task task, make_task(workload, target, free_layouts));
  if (!exact_specials) return task;
  return within(workload.name, with_exact_specials(std::move(task)));
}

}  // namespace lathe
