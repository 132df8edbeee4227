// A record as this version of Lathe makes it, of a task whose hash is its own: nothing of it is left
// unjudged.
#pragma once

#include "base/compiler_version.h"
#include "expr/parse.h"
#include "records/sample_record.h"
#include "task/task_text.h"

namespace lathe {

// Of the product of so many rows.
inline Record own_record(double seconds, int rows = 8) {
  Record record = sample_record(seconds);
  const Result<Target> target = parse_target(record.target);
  Result<Dag> dag = parse_dag("C[i:" + std::to_string(rows) + ", j:8] = sum(r:8) A[i,r] * B[r,j]", "dag");
  record.task =
      text_of(make_task("mm", std::move(*dag), with_cores(*target, record.cores), {"B"}, true).value());
  record.compiler_version = compiler_version();
  return record;
}

}  // namespace lathe
