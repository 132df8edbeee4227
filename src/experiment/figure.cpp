#include "experiment/figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/figures.h"
#include "report/plot_axis.h"

namespace lathe {
namespace {

constexpr double kPlotWidth = 420;
constexpr double kPlotHeight = 260;
constexpr double kLeft = 52;
constexpr double kRight = 14;
constexpr double kTop = 34;
constexpr double kBottom = 40;
constexpr double kLineHeight = 18;
constexpr size_t kPlotsInRow = 3;
// Tell apart by hue and by lightness.
constexpr const char* kColours[] = {"#1b6ca8", "#d1495b", "#2e8b57", "#8d5a97",
                                    "#c9871f", "#3b3b3b", "#5aa9c7", "#9b8f2e"};
constexpr const char* kRandomColour = "#8a8a8a";

const char* colour_of(size_t run) { return kColours[run % std::size(kColours)]; }

std::string text_at(double x, double y, const char* anchor, const std::string& text) {
  return fmt::format(R"svg(<text x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>)svg", x, y, anchor, text);
}

std::vector<double> qualities(const std::vector<double>& seconds, double optimum) {
  std::vector<double> quality;
  for (const double each : seconds) quality.push_back(std::isfinite(each) ? optimum / each : 0);
  return quality;
}

// One plot, its corner at the origin.
class Plot {
 public:
  explicit Plot(const TableCurves& table)
      : table_(&table),
        x_(linear_axis(0, static_cast<double>(std::max<size_t>(table.random.size(), 2)), kLeft,
                       kPlotWidth - kLeft - kRight)),
        y_(linear_axis(least_quality(table), 1, kPlotHeight - kBottom, -(kPlotHeight - kTop - kBottom))) {}

  std::string draw() const {
    std::string text = frame();
    for (size_t i = 0; i < table_->runs.size(); ++i) {
      const Band band = band_of(table_->runs[i].best);
      text += fmt::format(R"svg(<path d="{}" fill="{}" fill-opacity="0.16"/>)svg",
                          area(qualities(band.high, table_->optimum), qualities(band.low, table_->optimum)),
                          colour_of(i));
    }
    text += line(qualities(table_->random, table_->optimum), kRandomColour, R"( stroke-dasharray="5 4")");
    for (size_t i = 0; i < table_->runs.size(); ++i)
      text += line(qualities(band_of(table_->runs[i].best).median, table_->optimum), colour_of(i), "");
    return text;
  }

 private:
  // A little below the first median of the worst run.
  static double least_quality(const TableCurves& table) {
    double least = table.optimum / table.random.front();
    for (const RunCurves& run : table.runs)
      least = std::min(least, qualities(band_of(run.best).median, table.optimum).front());
    return std::max(0.0, std::min(0.9, least - 0.02));
  }

  std::string frame() const {
    std::string text = text_at(kLeft, kTop - 12, "start", escaped(table_->table));
    for (const Tick& tick : ticks_of(y_)) {
      const double y = y_.place(tick.value);
      text += fmt::format(R"svg(<line x1="{:g}" y1="{:.1f}" x2="{:g}" y2="{:.1f}" stroke="#e4e4e4"/>)svg",
                          kLeft, y, kPlotWidth - kRight, y);
      text += text_at(kLeft - 6, y + 4, "end", tick.label);
    }
    for (const Tick& tick : ticks_of(x_))
      text += text_at(x_.place(tick.value), kPlotHeight - kBottom + 18, "middle", tick.label);
    return text + text_at(kPlotWidth - kRight, kPlotHeight - 6, "end", "trials");
  }

  std::string steps(const std::vector<double>& quality) const {
    std::string path;
    for (size_t trial = 0; trial < quality.size(); ++trial) {
      if (trial > 0 && trial + 1 < quality.size() && quality[trial] == quality[trial - 1]) continue;
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "" : "L",
                          x_.place(static_cast<double>(trial) + 1), y_.place(quality[trial]));
    }
    return path;
  }

  std::string line(const std::vector<double>& quality, const char* colour, const char* more) const {
    return fmt::format(R"svg(<path d="M{}" fill="none" stroke="{}" stroke-width="1.8"{}/>)svg",
                       steps(quality), colour, more);
  }

  std::string area(const std::vector<double>& low, const std::vector<double>& high) const {
    std::string back;
    for (size_t trial = low.size(); trial-- > 0;)
      back += fmt::format("L{:.1f} {:.1f}", x_.place(static_cast<double>(trial) + 1), y_.place(low[trial]));
    return fmt::format("M{}{}Z", steps(high), back);
  }

  const TableCurves* table_;
  PlotAxis x_;
  PlotAxis y_;
};

std::string legend_line(double x, double y, const char* colour, const char* more, const std::string& text) {
  return fmt::format(
             R"svg(<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" stroke="{}" stroke-width="2.4"{}/>)svg",
             x, y - 4, x + 26, y - 4, colour, more) +
         text_at(x + 34, y, "start", text);
}

std::string legend(const TableCurves& table, double top) {
  std::string text;
  for (size_t i = 0; i < table.runs.size(); ++i)
    text += legend_line(kLeft, top + kLineHeight * static_cast<double>(i), colour_of(i), "",
                        fmt::format("{}, {} seed{}", escaped(table.runs[i].run), table.runs[i].best.size(),
                                    table.runs[i].best.size() == 1 ? "" : "s"));
  return text + legend_line(kLeft, top + kLineHeight * static_cast<double>(table.runs.size()), kRandomColour,
                            R"( stroke-dasharray="5 4")", "random search, expected");
}

}  // namespace

std::string svg_of(const std::string& title, const std::vector<TableCurves>& tables) {
  const size_t columns = std::min(kPlotsInRow, tables.size());
  const size_t rows = (tables.size() + columns - 1) / columns;
  const double plots_top = 34;
  const double legend_top = plots_top + kPlotHeight * static_cast<double>(rows) + 22;
  const double height = legend_top + kLineHeight * static_cast<double>(tables.front().runs.size() + 1);
  const double width = kPlotWidth * static_cast<double>(columns);
  std::string text = fmt::format(
      R"svg(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0:g} {1:g}" width="{0:g}" height="{1:g}" font-family="sans-serif" font-size="12" fill="#222"><rect width="{0:g}" height="{1:g}" fill="#fff"/><title>{2}</title><text x="{3:g}" y="20" font-size="15">{2}</text>)svg",
      width, height, escaped(title), kLeft);
  for (size_t i = 0; i < tables.size(); ++i) {
    const size_t row = i / columns;
    const size_t column = i % columns;
    text += fmt::format(R"svg(<g transform="translate({:g} {:g})">{}</g>)svg",
                        kPlotWidth * static_cast<double>(column),
                        plots_top + kPlotHeight * static_cast<double>(row), Plot(tables[i]).draw());
  }
  return text + legend(tables.front(), legend_top) + "</svg>\n";
}

}  // namespace lathe
