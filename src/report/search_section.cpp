// Each task's search, the machines' peaks, and failures (report/sections.h).
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/hash.h"
#include "report/curve_chart.h"
#include "report/figures.h"
#include "report/roofline_chart.h"
#include "report/sections.h"

namespace lathe {
namespace {

constexpr size_t kCardsShown = 12;

bool is_of(const TaskOverview& task, const ReportMachine& machine) {
  return task.machine == machine.machine && task.summary.target == machine.target &&
         task.summary.cores == machine.cores;
}

std::string place_text(const ReportMachine& machine) {
  return fmt::format("{}, {}, {} core{}", escaped(machine.machine), escaped(machine.target), machine.cores,
                     machine.cores == 1 ? "" : "s");
}

std::string failed_text(const TaskOverview& task) {
  std::string text;
  for (const FailedKind& failed : task.failures) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ",
                        figure(fmt::format("failures.{}", to_string(failed.kind)), failed.count),
                        to_string(failed.kind));
  }
  return text.empty() ? "" : fmt::format("; failed: {}", text);
}

std::string card(const RankedTask& entry) {
  const TaskOverview& task = *entry.task;
  const TaskSummary& summary = task.summary;
  std::string text = fmt::format(
      "<article class=\"card\" data-task=\"{}\" data-target=\"{}\" data-cores=\"{}\">\n<h3>{}. {}</h3>\n",
      hash_to_string(summary.task.hash), escaped(summary.target), summary.cores, entry.number,
      escaped(described(summary.task)));
  text +=
      fmt::format("<p class=\"facts\">{} of {} trials on {}, {} core{}{}",
                  figure("comparable", task.comparable), figure("trials", summary.trials),
                  escaped(summary.target), summary.cores, summary.cores == 1 ? "" : "s", failed_text(task));
  if (summary.best_id) text += fmt::format("; best: record {}", figure("record", *summary.best_id));
  if (task.wall_seconds > 0)
    text +=
        fmt::format("; {} spent", figure("wall_seconds", task.wall_seconds, time_text(task.wall_seconds)));
  text += "</p>\n";
  const std::string by_trials = curve_chart(task, CurveOver::trials);
  if (by_trials.empty()) return text + "<p>No program works.</p>\n</article>\n";
  return text + by_trials + curve_chart(task, CurveOver::seconds) + "\n</article>\n";
}

std::string cards(std::span<const RankedTask> tasks) {
  std::string text = "<div class=\"cards\">\n";
  for (const RankedTask& entry : tasks) text += card(entry);
  return text + "</div>\n";
}

struct KindOfAll {
  int64_t count = 0;
  int64_t tasks = 0;
  const TaskOverview* first = nullptr;
  std::string message;
};

std::map<ErrorKind, KindOfAll> kinds_of(std::span<const RankedTask> tasks) {
  std::map<ErrorKind, KindOfAll> kinds;
  for (const RankedTask& entry : tasks) {
    for (const FailedKind& failed : entry.task->failures) {
      KindOfAll& kind = kinds[failed.kind];
      kind.count += failed.count;
      ++kind.tasks;
      if (kind.first != nullptr) continue;
      kind.first = entry.task;
      kind.message = failed.message;
    }
  }
  return kinds;
}

}  // namespace

std::string roofline_section(std::span<const RankedTask> tasks, std::span<const ReportMachine> machines) {
  std::string plots;
  for (const ReportMachine& machine : machines) {
    std::vector<RooflineTask> here;
    for (const RankedTask& entry : tasks) {
      if (is_of(*entry.task, machine)) here.push_back({entry.task, entry.number});
    }
    const std::string plot = roofline_chart(here, machine.peaks);
    if (plot.empty()) continue;
    plots += fmt::format("<figure>\n<figcaption>{}{}</figcaption>\n{}\n</figure>\n", place_text(machine),
                         machine.peaks ? "" : ": its peaks cannot be measured here", plot);
  }
  if (plots.empty()) return "";
  return "<section>\n<h2>Under the machine's peaks</h2>\n<p>Best programs by what they compute for each byte "
         "of "
         "their inputs and outputs; the lines are what the machine reached when this page was made. "
         "Winograd's "
         "algorithm takes fewer operations than the formula has, so its points may lie above.</p>\n" +
         plots + "</section>\n";
}

std::string search_section(std::span<const RankedTask> tasks) {
  const size_t shown = std::min(tasks.size(), kCardsShown);
  std::string text =
      "<section>\n<h2>How the search went</h2>\n<p>The time of the best program so far, over trials and over "
      "the seconds spent on them. Trials of other processors and versions of Lathe than the best program's "
      "are left aside.</p>\n" +
      cards(tasks.first(shown));
  if (shown < tasks.size())
    text += fmt::format("<details><summary>{} more</summary>\n{}</details>\n", tasks.size() - shown,
                        cards(tasks.subspan(shown)));
  return text + "</section>\n";
}

std::string failures_section(std::span<const RankedTask> tasks) {
  const std::map<ErrorKind, KindOfAll> kinds = kinds_of(tasks);
  if (kinds.empty()) return "<section>\n<h2>Failures</h2>\n<p>No trial failed.</p>\n</section>\n";
  std::string text =
      "<section>\n<h2>Failures</h2>\n<div class=\"scroller\"><table>\n<thead><tr><th "
      "scope=\"col\">kind</th><th scope=\"col\" class=\"number\">trials</th><th scope=\"col\" "
      "class=\"number\">tasks</th><th scope=\"col\">the first one</th></tr></thead>\n<tbody>\n";
  for (const auto& [kind, all] : kinds) {
    text += fmt::format(
        "<tr><th scope=\"row\">{}</th><td class=\"number\">{}</td><td class=\"number\">{}</td><td "
        "class=\"long\">{}: {}</td></tr>\n",
        to_string(kind), figure(fmt::format("failures.{}", to_string(kind)), all.count),
        count_text(all.tasks), escaped(described(all.first->summary.task)), escaped(all.message));
  }
  return text + "</tbody>\n</table></div>\n</section>\n";
}

}  // namespace lathe
