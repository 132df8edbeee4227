#include "report/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "report/figures.h"
#include "report/sections.h"

namespace lathe {
namespace {

using nlohmann::ordered_json;

ordered_json machine_json(const ReportMachine& machine) {
  ordered_json entry = {
      {"target", machine.target}, {"machine", machine.machine}, {"cores", machine.cores}, {"peaks", nullptr}};
  if (machine.peaks)
    entry["peaks"] = {{"gflops", machine.peaks->gflops},
                      {"l2_gigabytes", machine.peaks->l2_gigabytes},
                      {"memory_gigabytes", machine.peaks->memory_gigabytes}};
  return entry;
}

ordered_json bench_json(const BenchFigure& figure) {
  ordered_json entry = {{"name", figure.name}, {"target", figure.target}, {"cores", figure.cores}};
  if (figure.record) entry["record"] = *figure.record;
  if (figure.seconds) entry["seconds"] = *figure.seconds;
  for (const auto& [form, seconds] : figure.peers) entry["peers"][form] = seconds;
  if (figure.speed_up) entry["speedup"] = *figure.speed_up;
  if (figure.uses) entry["uses"] = *figure.uses;
  return entry;
}

// All figures, for programs. No "<" of a name ends the element.
std::string island(const Report& report) {
  ordered_json json = {{"file", report.file}, {"compiler_version", report.compiler_version}};
  json["tasks"] = ordered_json::array();
  for (const TaskOverview& task : report.tasks) json["tasks"].push_back(json_of(task));
  json["machines"] = ordered_json::array();
  for (const ReportMachine& machine : report.machines) json["machines"].push_back(machine_json(machine));
  if (!report.bench_file.empty()) json["bench"] = ordered_json::array();
  for (const BenchFigure& figure : report.bench) json["bench"].push_back(bench_json(figure));
  std::string text;
  for (const char c : json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return fmt::format("<script type=\"application/json\" id=\"figures\">{}</script>\n", text);
}

std::string tile(const std::string& value, const std::string& name) {
  return fmt::format("<div class=\"tile\"><dt>{}</dt><dd>{}</dd></div>\n", name, value);
}

std::string tiles(const Report& report) {
  int64_t trials = 0;
  int64_t failed = 0;
  double wall_seconds = 0;
  double logarithms = 0;
  int64_t gained = 0;
  for (const TaskOverview& task : report.tasks) {
    trials += task.summary.trials;
    failed += task.summary.failed;
    wall_seconds += task.wall_seconds;
    const std::optional<double> gain = gain_of(task);
    if (!gain) continue;
    logarithms += std::log(*gain);
    ++gained;
  }
  std::string text = "<dl class=\"tiles\">\n";
  if (gained > 0) {
    const double mean = std::exp(logarithms / static_cast<double>(gained));
    text += tile(figure("mean_gain", mean, fmt::format("{}×", short_number(mean))),
                 "as fast as the first programs, in the geometric mean");
  }
  text += tile(figure("tasks", static_cast<int64_t>(report.tasks.size())),
               report.tasks.size() == 1 ? "task" : "tasks");
  text += tile(figure("trials", trials), "trials");
  text += tile(figure("failed", failed), "of them failed");
  if (wall_seconds > 0)
    text +=
        tile(figure("wall_seconds", wall_seconds, time_text(wall_seconds)), "building, running and checking");
  return text + "</dl>\n";
}

std::string joined(const std::set<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + escaped(word);
  return text;
}

std::string heading(const Report& report) {
  std::set<std::string> places;
  std::set<std::string> versions;
  int64_t first = report.tasks.front().first_at;
  int64_t last = 0;
  for (const TaskOverview& task : report.tasks) {
    places.insert(fmt::format("{}, {}, {} core{}", task.machine, task.summary.target, task.summary.cores,
                              task.summary.cores == 1 ? "" : "s"));
    versions.insert(task.compiler_versions.begin(), task.compiler_versions.end());
    first = std::min(first, task.first_at);
    last = std::max(last, task.last_at);
  }
  std::string text = fmt::format("<header>\n<h1>{}</h1>\n<p class=\"facts\">{}<br>Lathe {}",
                                 escaped(report.file), joined(places), joined(versions));
  if (last > 0) text += fmt::format("; measured {} to {} UTC", date_text(first), date_text(last));
  text += "</p>\n";
  for (const std::string& note : report.notes)
    text += fmt::format("<p class=\"note\">{}</p>\n", escaped(note));
  return text + "</header>\n";
}

}  // namespace

std::vector<RankedTask> ranked_tasks(const Report& report) {
  std::vector<RankedTask> ranked;
  for (const TaskOverview& task : report.tasks) {
    RankedTask& entry = ranked.emplace_back(&task);
    entry.bench = figure_of(task, report.bench);
    if (entry.bench != nullptr) entry.uses = entry.bench->uses.value_or(1);
    entry.seconds = task.summary.best_seconds.value_or(0) * static_cast<double>(entry.uses);
  }
  std::ranges::stable_sort(ranked, std::ranges::greater(), &RankedTask::seconds);
  for (size_t i = 0; i < ranked.size(); ++i) ranked[i].number = i + 1;
  return ranked;
}

std::string report_page(const Report& report) {
  const std::vector<RankedTask> tasks = ranked_tasks(report);
  std::string text = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>{}: what tuning came to</title>\n"
      "<style>\n{}</style>\n</head>\n<body>\n<main>\n",
      escaped(report.file), report_style());
  text += heading(report) + tiles(report);
  text += gains_section(tasks) + time_section(tasks) + roofline_section(tasks, report.machines);
  text += peers_section(report) + search_section(tasks) + failures_section(tasks);
  text += fmt::format("<footer><p>Made by Lathe {} from {}.</p></footer>\n</main>\n",
                      escaped(report.compiler_version), escaped(report.file));
  return text + island(report) + "</body>\n</html>\n";
}

}  // namespace lathe
