// Figures and names as the report's page shows them: text that is safe inside of HTML, and the exact value of
// each figure beside its rounded text. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lathe {

// Text inside an element or a quoted attribute: what is markup is written as entities, what is no UTF-8 or no
// character that a page may hold is replaced.
std::string escaped(std::string_view text);

// "12.3 µs": three or four digits and the unit that suits them.
std::string time_text(double seconds);
// "1,260 GFLOP/s" without the unit: three digits, more where it is larger.
std::string short_number(double value);
// "1,234,567".
std::string count_text(int64_t count);
// "2026-11-28 18:30", of milliseconds since 1970, UTC.
std::string date_text(int64_t milliseconds);

// A figure as <data>: the text for readers, and what `lathe show --json` prints of it as the value. `field`
// is the key there.
std::string figure(std::string_view field, double value, const std::string& text);
std::string figure(std::string_view field, int64_t value);
// A dash where there is none.
std::string time_figure(std::string_view field, const std::optional<double>& seconds);
std::string number_figure(std::string_view field, const std::optional<double>& value);

}  // namespace lathe
