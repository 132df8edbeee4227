#include "task/task_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.h"
#include "base/text_cursor.h"
#include "expr/parse.h"
#include "expr/print.h"

namespace lathe {
namespace {

bool has_own_layout(const Argument& argument) {
  return !argument.layout_is_free && argument.layout != Layout::row_major(argument.tensor->shape.size());
}

Status read_layouts(const TaskText& text, Task& task) {
  if (text.layouts.empty()) return {};
  if (text.layouts.size() != task.arguments.size())
    return fail(ErrorKind::database, "it has not one layout for each argument");
  for (size_t i = 0; i < task.arguments.size(); ++i) {
    Argument& argument = task.arguments[i];
    argument.layout_is_free = text.layouts[i].empty();
    if (argument.layout_is_free) continue;
    TextCursor cursor(text.layouts[i], "layout");
    LATHE_TRY(argument.layout, parse_layout(cursor));
    LATHE_TRY_STATUS(verify(argument.layout, argument.tensor->shape));
  }
  return {};
}

// Whatever its hash is.
Result<Task> read_task(const TaskText& text, const Target& target) {
  LATHE_TRY(Dag dag, parse_dag(text.dag, "task " + hash_to_string(text.hash)));
  LATHE_TRY(Task task, make_task(text.name, std::move(dag), target, text.constants, text.free_layouts));
  task.runs_cold = text.runs_cold;
  task.algorithm = text.algorithm;
  LATHE_TRY_STATUS(read_layouts(text, task));
  return task;
}

Result<Task> task_of_hash(const TaskText& text, const Target& target) {
  LATHE_TRY(Task task, read_task(text, target));
  if (hash_of(task) == text.hash) return task;
  return fail(ErrorKind::database, "its text is that of task " + hash_to_string(hash_of(task)));
}

}  // namespace

TaskText text_of(const Task& task) {
  TaskText text{.hash = hash_of(task),
                .name = task.name,
                .dag = to_string(task.dag),
                .runs_cold = task.runs_cold,
                .algorithm = task.algorithm};
  for (const Argument& argument : task.arguments) {
    if (argument.is_constant) text.constants.push_back(argument.tensor->name);
    text.free_layouts = text.free_layouts || argument.layout_is_free;
  }
  if (!std::ranges::any_of(task.arguments, has_own_layout)) return text;
  for (const Argument& argument : task.arguments) {
    text.layouts.push_back(argument.layout_is_free ? std::string() : to_string(argument.layout));
  }
  return text;
}

Result<Task> task_of(const TaskText& text, const Target& target) {
  Result<Task> task = task_of_hash(text, target);
  if (!task && task.error().kind == ErrorKind::database) {
    task.error().message = fmt::format("the record of task {} ('{}') is damaged: {}",
                                       hash_to_string(text.hash), text.name, task.error().message);
  }
  return task;
}

std::string fault_of(const TaskText& text, const Target& target) {
  const Result<Task> task = task_of_hash(text, target);
  if (task) return "";
  return task.error().kind == ErrorKind::database
             ? task.error().message
             : fmt::format("its text cannot be read ({})", task.error().to_string());
}

bool is_same_task(const TaskText& known, const TaskText& other) {
  const Target target;  // any will do
  const Result<Task> wanted = read_task(other, target);
  if (!wanted) return true;
  const Result<Task> task = read_task(known, target);
  return task && hash_of(*task) == hash_of(*wanted);
}

}  // namespace lathe
