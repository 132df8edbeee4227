#include "report/roofline_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "report/figures.h"
#include "report/plot_axis.h"

namespace lathe {
namespace {

constexpr double kLeft = 58;
constexpr double kTop = 14;
constexpr double kWidth = 560;
constexpr double kHeight = 290;
constexpr size_t kNumbered = 12;
constexpr double kNameLength = 110;
constexpr double kAboveDots = 16;  // of a name: many tasks lie at the peak
constexpr double kApart = 19;      // numbers that are closer would hide each other

struct PlacedTask {
  double intensity = 0;  // operations a byte
  double gflops = 0;
  const TaskOverview* task = nullptr;
  size_t number = 0;
  bool is_numbered = false;
};

std::vector<PlacedTask> points_of(std::span<const RooflineTask> tasks) {
  std::vector<PlacedTask> points;
  for (const RooflineTask& each : tasks) {
    const TaskOverview& task = *each.task;
    const std::optional<double> gflops = gflops_at(task, task.summary.best_seconds);
    if (!gflops || *gflops <= 0 || *task.bytes <= 0) continue;
    const double intensity = static_cast<double>(*task.flops) / static_cast<double>(*task.bytes);
    points.push_back({intensity, *gflops, &task, each.number});
  }
  return points;
}

struct Plane {
  PlotAxis x;
  PlotAxis y;
};

Plane plane_of(const std::vector<PlacedTask>& points, const std::optional<ReportPeaks>& peaks) {
  double left = points.front().intensity;
  double right = left;
  double low = points.front().gflops;
  double high = low;
  for (const PlacedTask& point : points) {
    left = std::min(left, point.intensity);
    right = std::max(right, point.intensity);
    low = std::min(low, point.gflops);
    high = std::max(high, point.gflops);
  }
  if (peaks) {
    high = std::max(high, 1.2 * peaks->gflops);
    right = std::max(right, 2 * peaks->gflops / peaks->memory_gigabytes);
  }
  return {logarithmic_axis(left / 1.3, right * 1.3, kLeft, kWidth),
          logarithmic_axis(low / 1.3, high * 1.1, kTop + kHeight, -kHeight)};
}

std::string grid(const Plane& plane) {
  std::string text;
  for (const Tick& tick : ticks_of(plane.y)) {
    const double place = plane.y.place(tick.value);
    text += fmt::format(R"svg(<line class="grid" x1="{:g}" y1="{:.1f}" x2="{:g}" y2="{:.1f}"/>)svg", kLeft,
                        place, kLeft + kWidth, place);
    text += fmt::format(R"svg(<text x="{:g}" y="{:.1f}" text-anchor="end">{}</text>)svg", kLeft - 6,
                        place + 4, tick.label);
  }
  for (const Tick& tick : ticks_of(plane.x)) {
    const double place = plane.x.place(tick.value);
    text += fmt::format(R"svg(<line class="grid" x1="{:.1f}" y1="{:g}" x2="{:.1f}" y2="{:g}"/>)svg", place,
                        kTop, place, kTop + kHeight);
    text += fmt::format(R"svg(<text x="{:.1f}" y="{:g}" text-anchor="middle">{}</text>)svg", place,
                        kTop + kHeight + 17, tick.label);
  }
  text += fmt::format(
      R"svg(<text class="name" x="{:g}" y="{:g}" text-anchor="middle">operations a byte</text>)svg",
      kLeft + kWidth / 2, kTop + kHeight + 36);
  return text +
         fmt::format(
             R"svg(<text class="name" transform="translate(14 {:g}) rotate(-90)" text-anchor="middle">GFLOP/s</text>)svg",
             kTop + kHeight / 2);
}

// What the machine does at most, for operands of some level: the part of it that the plane has.
struct Roof {
  const char* kind = "";  // of its line: "memory", "cache"
  std::string name;
  double from = 0;  // operations a byte, where its slope enters the plane
  double ridge = 0;
  double gigabytes = 0;
};

std::vector<Roof> slopes_of(const Plane& plane, const ReportPeaks& peaks) {
  std::vector<Roof> slopes;
  for (const auto& [kind, level, gigabytes] :
       {std::tuple{"memory", "memory", peaks.memory_gigabytes}, {"cache", "L2", peaks.l2_gigabytes}}) {
    const double from = std::max(plane.x.least, plane.y.least / gigabytes);
    const double ridge = peaks.gflops / gigabytes;
    if (from < ridge)
      slopes.push_back(
          {kind, fmt::format("{}: {} GB/s", level, short_number(gigabytes)), from, ridge, gigabytes});
  }
  return slopes;
}

std::string roof_lines(const Plane& plane, const ReportPeaks& peaks) {
  const double ridge = std::max(plane.x.least, peaks.gflops / peaks.l2_gigabytes);
  std::string text = fmt::format(R"svg(<path class="roof" d="M{:.1f} {:.1f}H{:.1f}"/>)svg",
                                 plane.x.place(ridge), plane.y.place(peaks.gflops), kLeft + kWidth);
  for (const Roof& slope : slopes_of(plane, peaks))
    text += fmt::format(R"svg(<path class="roof {}" d="M{:.1f} {:.1f}L{:.1f} {:.1f}"/>)svg", slope.kind,
                        plane.x.place(slope.from), plane.y.place(slope.from * slope.gigabytes),
                        plane.x.place(slope.ridge), plane.y.place(peaks.gflops));
  return text;
}

// Along the lines, where these have room for them.
std::string roof_names(const Plane& plane, const ReportPeaks& peaks) {
  std::string text = fmt::format(
      R"svg(<text class="roof-name" x="{:g}" y="{:.1f}" text-anchor="end">multiply-adds: {} GFLOP/s</text>)svg",
      kLeft + kWidth - 4, plane.y.place(peaks.gflops) - kAboveDots, short_number(peaks.gflops));
  for (const Roof& slope : slopes_of(plane, peaks)) {
    const double x = plane.x.place(slope.from);
    const double y = plane.y.place(slope.from * slope.gigabytes);
    const double across = plane.x.place(slope.ridge) - x;
    const double up = plane.y.place(peaks.gflops) - y;
    if (std::hypot(across, up) < kNameLength) continue;
    constexpr double kDegrees = 57.29577951308232;  // of a radian
    text += fmt::format(
        R"svg(<text class="roof-name" transform="translate({:.1f} {:.1f}) rotate({:.1f})" dy="-7">{}</text>)svg",
        x + 0.06 * across, y + 0.06 * up, std::atan2(up, across) * kDegrees, slope.name);
  }
  return text;
}

// The first tasks that lie apart.
void choose_numbered(const Plane& plane, std::vector<PlacedTask>& points) {
  size_t count = 0;
  for (PlacedTask& point : points) {
    if (count == kNumbered) return;
    const auto is_near = [&](const PlacedTask& other) {
      return other.is_numbered &&
             std::hypot(plane.x.place(point.intensity) - plane.x.place(other.intensity),
                        plane.y.place(point.gflops) - plane.y.place(other.gflops)) < kApart;
    };
    point.is_numbered = std::ranges::none_of(points, is_near);
    if (point.is_numbered) ++count;
  }
}

std::string dot(const Plane& plane, const PlacedTask& point) {
  const double x = plane.x.place(point.intensity);
  const double y = plane.y.place(point.gflops);
  const std::string title = fmt::format("{}. {}: {} GFLOP/s, {} operations a byte", point.number,
                                        escaped(described(point.task->summary.task)),
                                        short_number(point.gflops), short_number(point.intensity));
  std::string text =
      fmt::format(R"svg(<g><title>{}</title><circle class="dot" cx="{:.1f}" cy="{:.1f}" r="{}"/>)svg", title,
                  x, y, point.is_numbered ? "9" : "4");
  if (point.is_numbered)
    text += fmt::format(R"svg(<text class="number" x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>)svg",
                        x, y + 3.8, point.number);
  return text + "</g>";
}

}  // namespace

std::string roofline_chart(std::span<const RooflineTask> tasks, const std::optional<ReportPeaks>& peaks) {
  std::vector<PlacedTask> points = points_of(tasks);
  if (points.empty()) return "";
  const Plane plane = plane_of(points, peaks);
  choose_numbered(plane, points);
  std::string text = grid(plane);
  if (peaks) text += roof_lines(plane, *peaks);
  // Numbered ones lie above the others, and names above all.
  for (const bool is_numbered : {false, true}) {
    for (const PlacedTask& point : points) {
      if (point.is_numbered == is_numbered) text += dot(plane, point);
    }
  }
  if (peaks) text += roof_names(plane, *peaks);
  return fmt::format(
      R"svg(<svg class="roofline" viewBox="0 0 640 350" role="img" aria-label="Speed of {0} task{1} over their operations a byte; the table of tasks has the same figures"><title>Roofline</title>{2}</svg>)svg",
      points.size(), points.size() == 1 ? "" : "s", text);
}

}  // namespace lathe
