#include "network_tasks.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "artifact/compile_model.h"
#include "base/hash.h"
#include "base/json.h"
#include "target/all.h"
#include "task/task_text.h"

namespace lathe {
namespace {

// The texts are those of tasks for this target and one core: both are part of a task's hash.
Target target_of_texts() { return generic_target("x86-avx2"); }

nlohmann::json to_json(const TaskText& text) {
  return {{"name", text.name},           {"hash", hash_to_string(text.hash)}, {"dag", text.dag},
          {"constants", text.constants}, {"free_layouts", text.free_layouts}, {"layouts", text.layouts},
          {"runs_cold", text.runs_cold}, {"algorithm", text.algorithm}};
}

TaskText from_json(const nlohmann::json& value) {
  return {.hash = std::stoull(value.at("hash").get<std::string>(), nullptr, 16),
          .name = value.at("name"),
          .dag = value.at("dag"),
          .constants = value.at("constants"),
          .free_layouts = value.at("free_layouts"),
          .layouts = value.at("layouts"),
          .runs_cold = value.at("runs_cold"),
          .algorithm = value.at("algorithm")};
}

}  // namespace

Result<std::vector<TaskText>> tasks_of_network(const std::string& path) {
  LATHE_TRY(const Network network, load_network(path, {}, target_of_texts()));
  std::vector<TaskText> texts;
  for (const WeightedTask& task : network.tasks.tasks) {
    texts.push_back(text_of(task.task));
    texts.back().name = fmt::format("{}.{}", network.name, texts.size() - 1);
  }
  return texts;
}

std::string print_task_texts(const std::vector<TaskText>& tasks) {
  std::string text = "[";
  for (const TaskText& task : tasks)
    text += fmt::format("{}\n{}", &task == tasks.data() ? "" : ",", to_json(task).dump());
  return text + "\n]\n";
}

Result<std::vector<TaskText>> parse_task_texts(const std::string& text, const std::string& source) {
  LATHE_TRY(const nlohmann::json list, parse_json(text, source));
  std::vector<TaskText> tasks;
  try {
    for (const nlohmann::json& value : list) tasks.push_back(from_json(value));
  } catch (const std::exception& error) {
    return fail(ErrorKind::parse, fmt::format("it holds no list of tasks: {}", error.what()), source);
  }
  return tasks;
}

Result<Task> task_from(const TaskText& text, const Target& target) {
  LATHE_TRY(Task task, task_of(text, target_of_texts()));
  task.target = target;
  return task;
}

}  // namespace lathe
