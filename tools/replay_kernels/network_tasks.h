// Tasks of networks as a file of texts: what a network consists of, without its weights.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "records/record.h"
#include "target/target.h"
#include "task/task.h"

namespace lathe {

// The tasks of the ONNX network in a file, named NETWORK.0 and so on.
Result<std::vector<TaskText>> tasks_of_network(const std::string& path);

// JSON, a task a line.
std::string print_task_texts(const std::vector<TaskText>& tasks);
Result<std::vector<TaskText>> parse_task_texts(const std::string& text, const std::string& source);

// For any target, whatever that of the text was.
Result<Task> task_from(const TaskText& text, const Target& target);

}  // namespace lathe
