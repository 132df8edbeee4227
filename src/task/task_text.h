// Between a task and its text in a records file or a job: what is written is all that is needed to make it
// again.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "target/target.h"
#include "task/task.h"

namespace lathe {

// Identity and text of a task, enough to build it again.
struct TaskText {
  uint64_t hash = 0;
  std::string name = {};  // for people; the first name under which the task was recorded stays
  std::string dag = {};   // the Dag's printed form
  std::vector<std::string> constants = {};  // inputs whose values may be transformed beforehand
  bool free_layouts = false;  // whether the schedule may choose the layouts of the other arguments
  // The layouts that are given, one for each argument; empty where all are row-major or free.
  std::vector<std::string> layouts = {};
  bool runs_cold = false;      // as in Task
  std::string algorithm = {};  // as in Task

  bool operator==(const TaskText&) const = default;
};

TaskText text_of(const Task& task);
// The task of a record, for `target`. An Error of kind database where the text makes no task, or another one
// than its hash says.
Result<Task> task_of(const TaskText& text, const Target& target);
// Why it does not, as half a sentence; empty where it does.
std::string fault_of(const TaskText& text, const Target& target);
// Whether a text makes the same task as one that is to take its place, in whatever names of tensors and axes;
// true, too, where the other one makes none.
bool is_same_task(const TaskText& known, const TaskText& other);

}  // namespace lathe
