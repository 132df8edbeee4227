// Lathe beside other libraries, of what bench measured (report/sections.h).
#include <fmt/format.h>

#include <algorithm>

#include "report/figures.h"
#include "report/sections.h"

namespace lathe {
namespace {

constexpr size_t kCasesShown = 24;

std::string peer_bar(const std::string& name, double seconds, double most, const char* kind,
                     const char* field) {
  return fmt::format(
      "<li><span class=\"label\">{}</span><span class=\"track\"><span class=\"fill {}\" "
      "style=\"width:{:.2f}%\"></span></span><span class=\"value\">{}</span></li>\n",
      escaped(name), kind, 100 * seconds / most, figure(field, seconds, time_text(seconds)));
}

std::string peers_card(const BenchFigure& bench) {
  double most = *bench.seconds;
  for (const auto& [form, seconds] : bench.peers) most = std::max(most, seconds);
  std::string text =
      fmt::format("<article class=\"card\" data-bench=\"{0}\">\n<h3>{0}</h3>\n", escaped(bench.name));
  if (bench.speed_up)
    text +=
        fmt::format("<p class=\"facts\">{} as fast as the fastest peer</p>\n",
                    figure("speedup", *bench.speed_up, fmt::format("{}×", short_number(*bench.speed_up))));
  text += "<ol class=\"bars\">\n" + peer_bar("Lathe", *bench.seconds, most, "", "seconds");
  for (const auto& [form, seconds] : bench.peers) text += peer_bar(form, seconds, most, "peer", "peer");
  return text + "</ol>\n</article>\n";
}

}  // namespace

std::string peers_section(const Report& report) {
  std::vector<const BenchFigure*> measured;
  for (const BenchFigure& bench : report.bench) {
    if (bench.seconds && !bench.peers.empty()) measured.push_back(&bench);
  }
  if (measured.empty()) return "";
  std::string text = fmt::format(
      "<section>\n<h2>Beside other libraries</h2>\n<p>Measured in turns on the same cores; from {}. Shorter "
      "is "
      "faster.</p>\n<div class=\"cards\">\n",
      escaped(report.bench_file));
  const size_t shown = std::min(measured.size(), kCasesShown);
  for (size_t i = 0; i < shown; ++i) text += peers_card(*measured[i]);
  text += "</div>\n";
  if (shown < measured.size()) {
    text +=
        fmt::format("<details><summary>{} more</summary>\n<div class=\"cards\">\n", measured.size() - shown);
    for (size_t i = shown; i < measured.size(); ++i) text += peers_card(*measured[i]);
    text += "</div></details>\n";
  }
  return text + "</section>\n";
}

}  // namespace lathe
