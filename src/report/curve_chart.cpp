#include "report/curve_chart.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/figures.h"
#include "report/plot_axis.h"

namespace lathe {
namespace {

constexpr double kCurveLeft = 62;
constexpr double kLeastTrials = 5;  // of an axis: its marks are whole numbers
constexpr double kCurveTop = 12;
constexpr double kCurveWidth = 248;
constexpr double kCurveHeight = 96;

struct Unit {
  double seconds = 1;
  const char* name = "s";
};

Unit unit_of(double seconds) {
  if (seconds >= 1) return {1, "s"};
  if (seconds >= 1e-3) return {1e-3, "ms"};
  if (seconds >= 1e-6) return {1e-6, "µs"};
  return {1e-9, "ns"};
}

double x_value(const Improvement& better, CurveOver over) {
  return over == CurveOver::trials ? static_cast<double>(better.trial) : better.spent.value_or(0);
}

std::string frame(const PlotAxis& x, const PlotAxis& y, const std::string& x_name, const std::string& unit) {
  std::string text;
  const std::vector<Tick> heights = ticks_of(y);
  for (size_t i = 0; i < heights.size(); ++i) {
    const double place = y.place(heights[i].value);
    text += fmt::format(R"svg(<line class="grid" x1="{:g}" y1="{:.1f}" x2="{:g}" y2="{:.1f}"/>)svg",
                        kCurveLeft, place, kCurveLeft + kCurveWidth, place);
    text += fmt::format(R"svg(<text x="{:g}" y="{:.1f}" text-anchor="end">{}{}</text>)svg", kCurveLeft - 6,
                        place + 4, heights[i].label, i + 1 == heights.size() ? unit : "");
  }
  const std::vector<Tick> marks = ticks_of(x);
  // The last one bears the unit, which takes the room of the one before.
  const bool is_narrow = marks.size() > 4;
  for (size_t i = 0; i < marks.size(); ++i) {
    if (is_narrow && i + 2 == marks.size()) continue;
    const char* const anchor = i + 1 == marks.size() ? "end" : i == 0 ? "start" : "middle";
    text += fmt::format(R"svg(<text x="{:.1f}" y="{:g}" text-anchor="{}">{}{}</text>)svg",
                        x.place(marks[i].value), kCurveTop + kCurveHeight + 16, anchor, marks[i].label,
                        i + 1 == marks.size() ? x_name : "");
  }
  return text;
}

// From a little below the best to the first: what a search gains is small beside the time itself.
PlotAxis height_axis(double best, double first) {
  const double room = std::max(0.1 * (first - best), 0.02 * best);
  return linear_axis(best - room, first, kCurveTop + kCurveHeight, -kCurveHeight);
}

}  // namespace

std::string curve_chart(const TaskOverview& task, CurveOver over) {
  if (task.curve.empty()) return "";
  const bool has_times =
      std::ranges::all_of(task.curve, [](const Improvement& better) { return better.spent.has_value(); });
  if (over == CurveOver::seconds && !has_times) return "";
  const double end = over == CurveOver::trials ? static_cast<double>(task.comparable)
                                               : std::max(task.wall_seconds, *task.curve.back().spent);
  const Unit unit = unit_of(task.curve.front().seconds);
  const PlotAxis x =
      linear_axis(0, over == CurveOver::trials ? std::max(end, kLeastTrials) : end, kCurveLeft, kCurveWidth);
  const PlotAxis y =
      height_axis(task.curve.back().seconds / unit.seconds, task.curve.front().seconds / unit.seconds);
  std::string path;
  double height = 0;
  for (const Improvement& better : task.curve) {
    const double across = x.place(x_value(better, over));
    const double next = y.place(better.seconds / unit.seconds);
    path += path.empty() ? fmt::format("M{:.1f} {:.1f}", across, next)
                         : fmt::format("H{:.1f}V{:.1f}", across, next);
    height = next;
  }
  path += fmt::format("H{:.1f}", x.place(end));
  const char* const x_name = over == CurveOver::trials ? " trials" : " s";
  const Improvement& last = task.curve.back();
  const std::string told = fmt::format(
      "The best program so far of {}: {} at first, {} after {}", escaped(described(task.summary.task)),
      time_text(task.curve.front().seconds), time_text(last.seconds),
      over == CurveOver::trials ? fmt::format("{} trials", count_text(last.trial)) : time_text(*last.spent));
  return fmt::format(
      R"svg(<svg class="curve" viewBox="0 0 316 132" role="img" aria-label="{0}"><title>{0}</title>{1}<path class="line" d="{2}"/><circle class="dot" cx="{3:.1f}" cy="{4:.1f}" r="3.5"/></svg>)svg",
      told, frame(x, y, x_name, fmt::format(" {}", unit.name)), path, x.place(x_value(last, over)), height);
}

}  // namespace lathe
