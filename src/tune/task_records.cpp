#include "tune/task_records.h"

#include "tune/compiler_version.h"

namespace lathe {

RecordQuery records_of(const Task& task) {
  RecordQuery query;
  query.task_hash = hash_of(task);
  query.target = task.target.name;
  query.cores = task.cores;
  query.compiler_version = compiler_version();
  return query;
}

}  // namespace lathe
