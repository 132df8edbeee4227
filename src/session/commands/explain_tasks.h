// The explanation of a task's best program (explain/), from a records file, with the peaks of this machine.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "explain/comparable.h"
#include "explain/explain.h"
#include "records/record_store.h"
#include "session/teller.h"

namespace lathe {

// A task on one target with one number of cores.
struct ExplainedTask {
  TaskSummary summary;
  Comparable compared;       // the records that it is explained by
  std::string machine_here;  // of the target: its machine's own name
  // The peaks by which times are bound. None where this machine did not measure, or does not run the target
  // on so many cores: they would be another machine's.
  std::optional<Roofline> roofline;
  Explanation explanation;
};

// Every target and number of cores of the one task that begins with these digits, told as it is explained.
Status explain_tasks(const std::string& file, const std::string& digits, const Teller& note,
                     const std::function<void(const ExplainedTask&)>& told);

}  // namespace lathe
