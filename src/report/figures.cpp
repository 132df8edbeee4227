#include "report/figures.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

namespace lathe {
namespace {

using nlohmann::json;

// As nlohmann's JSON prints it: the fewest digits that read back as the same number.
std::string exact(const json& value) { return value.dump(); }

std::string as_utf8(std::string_view text) {
  const std::string dumped = json(text).dump(-1, ' ', false, json::error_handler_t::replace);
  return json::parse(dumped).get<std::string>();
}

std::string grouped(std::string_view digits) {
  std::string result;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) result += ',';
    result += digits[i];
  }
  return result;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : as_utf8(text)) {
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      case '\'': result += "&#39;"; break;
      default:
        if (byte < 0x20 || byte == 0x7f) {
          result += ' ';
        } else {
          result += c;
        }
    }
  }
  return result;
}

std::string short_number(double value) {
  if (!std::isfinite(value)) return "-";
  const double size = std::abs(value);
  if (size >= 1000) return fmt::format("{}{}", value < 0 ? "-" : "", grouped(fmt::format("{:.0f}", size)));
  if (size < 0.9995) return fmt::format("{:.3g}", value);
  const int digits = size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f}", value, digits);
}

std::string time_text(double seconds) {
  struct Unit {
    double seconds;
    const char* name;
  };
  // 999.6 ns would be shown as 1000 ns.
  constexpr std::array<Unit, 4> kUnits = {{{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}, {1e-9, "ns"}}};
  for (const Unit& unit : kUnits) {
    const double amount = seconds / unit.seconds;
    if (amount >= 0.9995 || unit.seconds == kUnits.back().seconds)
      return fmt::format("{} {}", short_number(amount), unit.name);
  }
  return "-";
}

std::string count_text(int64_t count) {
  return count < 0 ? fmt::format("{}", count) : grouped(fmt::format("{}", count));
}

std::string date_text(int64_t milliseconds) {
  // Years of four digits, whatever a file holds.
  constexpr int64_t kLast = 253'402'300'799;
  const auto seconds = static_cast<std::time_t>(std::clamp<int64_t>(milliseconds / 1000, 0, kLast));
  return fmt::format("{:%Y-%m-%d %H:%M}", fmt::gmtime(seconds));
}

std::string figure(std::string_view field, double value, const std::string& text) {
  return fmt::format(R"(<data data-field="{}" value="{}">{}</data>)", field, exact(value), text);
}

std::string figure(std::string_view field, int64_t value) {
  return fmt::format(R"(<data data-field="{}" value="{}">{}</data>)", field, value, count_text(value));
}

std::string time_figure(std::string_view field, const std::optional<double>& seconds) {
  return seconds ? figure(field, *seconds, time_text(*seconds)) : "–";
}

std::string number_figure(std::string_view field, const std::optional<double>& value) {
  return value ? figure(field, *value, short_number(*value)) : "–";
}

}  // namespace lathe
