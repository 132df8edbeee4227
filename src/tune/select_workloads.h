// Which cases of a workload file a command is about.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "ops/workloads.h"

namespace lathe {

// The workloads of a file whose names the ECMAScript expression `filter` is found in; all for an empty one.
// An Error where the file is at fault, the filter is no such expression or has more than 1000 bytes, or
// nothing is left.
Result<std::vector<Workload>> select_workloads(const std::string& path, const std::string& filter);

}  // namespace lathe
