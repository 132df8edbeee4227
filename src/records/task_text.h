// Between a task and its text in a records file: what is written is all that is needed to make it again.
#pragma once

#include <string>

#include "base/result.h"
#include "records/record.h"
#include "target/target.h"
#include "task/task.h"

namespace lathe {

TaskText text_of(const Task& task);
// The task of a record, for `target`. An Error of kind database where the text makes no
// task, or another one than its hash says.
Result<Task> task_of(const TaskText& text, const Target& target);
// Why it does not, as half a sentence; empty where it does.
std::string fault_of(const TaskText& text, const Target& target);
// Whether a text makes the same task as one that is to take its place, in whatever names of tensors and axes;
// true, too, where the other one makes none.
bool is_same_task(const TaskText& known, const TaskText& other);

}  // namespace lathe
