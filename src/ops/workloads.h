// Files of operators to tune: a JSON list of objects with "name", "op", that operator's parameters and
// perhaps "suite"; one object stands for a list of one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ops/operator.h"
#include "target/target.h"
#include "task/task.h"

namespace lathe {

struct Workload {
  std::string name;  // distinct within a file
  std::string op;
  Operator operation;
  std::string entry;  // the JSON object that says so
};

// Errors name the file, the entry and the key.
Result<std::vector<Workload>> load_workloads(const std::string& path);
// The same of a text; `source` is what errors call it.
Result<std::vector<Workload>> parse_workloads(std::string_view text, const std::string& source);

// The task of a workload: its constants are constants, the other layouts free or row-major, its algorithm
// required.
Result<Task> make_task(const Workload& workload, const Target& target, bool free_layouts);

}  // namespace lathe
