// The text of a task as JSON, as files other than records keep it.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "task/task_text.h"

namespace lathe {

// {"hash": "16 digits", "name", "dag", "constants": [..], "free_layouts", "layouts": [..], "runs_cold",
// "algorithm"}.
nlohmann::ordered_json json_of(const TaskText& text);
// Back; an Error of kind parse names the member that is missing or of another type. Whether the text makes a
// task is asked by task_of.
Result<TaskText> task_text_from(const nlohmann::json& object);

}  // namespace lathe
