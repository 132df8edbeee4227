#include "base/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

namespace lathe {
namespace {

using nlohmann::json;

std::string place_in(const std::string& source, std::string_view text, size_t position) {
  const std::string_view before = text.substr(0, std::min(position, text.size()));
  const size_t line_begin = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return fmt::format("{}:{}:{}", source, 1 + std::ranges::count(before, '\n'),
                     1 + before.size() - line_begin);
}

// Where the text opens a list or an object too many, whether it is valid or not.
std::optional<size_t> too_deep_at(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepestJson) return i;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return std::nullopt;
}

}  // namespace

Result<json> parse_json(std::string_view text, const std::string& source) {
  if (const auto position = too_deep_at(text)) {
    return fail(ErrorKind::parse,
                fmt::format("lists and objects are nested more than {} deep here", kDeepestJson),
                place_in(source, text, *position));
  }
  try {
    return json::parse(text);
  } catch (const json::parse_error& error) {
    return fail(ErrorKind::parse, "this is no valid JSON",
                place_in(source, text, error.byte == 0 ? 0 : error.byte - 1));
  } catch (const json::out_of_range&) {
    return fail(ErrorKind::parse, "it holds a number that is too large", source);
  }
}

}  // namespace lathe
