// First programs against the best ones, and where the time goes (report/sections.h).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/hash.h"
#include "report/figures.h"
#include "report/sections.h"

namespace lathe {
namespace {

// As many as a reader looks through; the others are folded up.
constexpr size_t kRowsShown = 40;
constexpr size_t kBarsShown = 15;

// Of a bar whose full length stands for `most`.
std::string bar(double share) {
  return fmt::format("<span class=\"track\"><span class=\"fill\" style=\"width:{:.2f}%\"></span></span>",
                     100 * std::clamp(share, 0.0, 1.0));
}

// A name that a narrow table may break at its slashes.
std::string breakable(const std::string& name) {
  std::string text;
  for (const char c : escaped(name)) {
    text += c;
    if (c == '/') text += "<wbr>";
  }
  return text;
}

std::string gain_cell(const TaskOverview& task, double most) {
  const std::optional<double> gain = gain_of(task);
  if (!gain) return "<td class=\"number\">–</td>";
  const double share = most > 1 ? std::log(*gain) / std::log(most) : 0;
  return fmt::format("<td class=\"number\">{}{}</td>",
                     figure("gain", *gain, fmt::format("{}×", short_number(*gain))), bar(share));
}

std::string row(const RankedTask& entry, double most) {
  const TaskOverview& task = *entry.task;
  const TaskSummary& summary = task.summary;
  std::string text = fmt::format(
      "<tr data-task=\"{}\" data-target=\"{}\" data-cores=\"{}\"><td class=\"number\">{}</td><th "
      "scope=\"row\">{}</th>",
      hash_to_string(summary.task.hash), escaped(summary.target), summary.cores, entry.number,
      breakable(described(summary.task)));
  const auto cell = [&](const std::string& value, const char* kind = "number") {
    text += fmt::format("<td class=\"{}\">{}</td>", kind, value);
  };
  cell(time_figure("first_seconds", task.first_seconds));
  cell(summary.best_seconds ? time_figure("seconds", summary.best_seconds) : "none works");
  text += gain_cell(task, most);
  cell(number_figure("first_gflops", gflops_at(task, task.first_seconds)), "number wide");
  cell(number_figure("gflops", gflops_at(task, summary.best_seconds)));
  cell(figure("trials", summary.trials), "number wide");
  cell(figure("failed", summary.failed), "number wide");
  return text + "</tr>\n";
}

std::string table(std::span<const RankedTask> tasks, double most) {
  std::string text =
      "<div class=\"scroller\"><table>\n<thead><tr><th scope=\"col\" class=\"number\">#</th><th "
      "scope=\"col\">task</th><th scope=\"col\" class=\"number\">first</th><th scope=\"col\" "
      "class=\"number\">best</th><th scope=\"col\" class=\"number\">gain</th><th scope=\"col\" "
      "class=\"number "
      "wide\">first GFLOP/s</th><th scope=\"col\" class=\"number\">GFLOP/s</th><th scope=\"col\" "
      "class=\"number wide\">trials</th><th scope=\"col\" class=\"number wide\">failed</th></tr></thead>\n"
      "<tbody>\n";
  for (const RankedTask& entry : tasks) text += row(entry, most);
  return text + "</tbody>\n</table></div>\n";
}

std::string time_bar(const RankedTask& entry, double most, double total) {
  const std::string times =
      entry.uses == 1 ? "" : fmt::format(" <span class=\"muted\">× {}</span>", count_text(entry.uses));
  return fmt::format(
      "<li><span class=\"label\">{}. {}{}</span>{}<span class=\"value\">{} <span class=\"muted\">{:.1f} "
      "%</span></span></li>\n",
      entry.number, escaped(described(entry.task->summary.task)), times, bar(entry.seconds / most),
      time_text(entry.seconds), 100 * entry.seconds / total);
}

}  // namespace

std::string gains_section(std::span<const RankedTask> tasks) {
  double most = 1;
  for (const RankedTask& entry : tasks) most = std::max(most, gain_of(*entry.task).value_or(1));
  const size_t shown = std::min(tasks.size(), kRowsShown);
  std::string text =
      "<section>\n<h2>What was gained</h2>\n<p>The first program of each task against the best one. GFLOP/s "
      "count the operations of the formula as it is written.</p>\n" +
      table(tasks.first(shown), most);
  if (shown < tasks.size())
    text += fmt::format("<details><summary>{} more</summary>\n{}</details>\n", tasks.size() - shown,
                        table(tasks.subspan(shown), most));
  return text + "</section>\n";
}

std::string time_section(std::span<const RankedTask> tasks) {
  double total = 0;
  bool has_uses = false;
  for (const RankedTask& entry : tasks) {
    total += entry.seconds;
    has_uses = has_uses || (entry.bench != nullptr && entry.bench->uses);
  }
  if (total == 0 || tasks.size() == 1) return "";
  std::string text =
      fmt::format("<section>\n<h2>Where the time goes</h2>\n<p>{}, {} in all.</p>\n<ol class=\"bars\">\n",
                  has_uses ? "Each task's best program as often as a run of its network uses it"
                           : "The best program of each task, once",
                  time_text(total));
  double rest = 0;
  size_t others = 0;
  for (size_t i = 0; i < tasks.size() && tasks[i].seconds > 0; ++i) {
    if (i < kBarsShown) {
      text += time_bar(tasks[i], tasks.front().seconds, total);
    } else {
      rest += tasks[i].seconds;
      ++others;
    }
  }
  if (others > 0)
    text += fmt::format(
        "<li><span class=\"label\">{} other{}</span><span></span><span class=\"value\">{} <span "
        "class=\"muted\">{:.1f} "
        "%</span></span></li>\n",
        others, others == 1 ? "" : "s", time_text(rest), 100 * rest / total);
  return text + "</ol>\n</section>\n";
}

}  // namespace lathe
