#include "base/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <vector>

#include "base/abridged.h"

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

// A key of one object that stands in it a second time: of the two values one would be dropped in silence.
struct RepeatedKey {
  size_t position = 0;
  std::string key;
};

// The position behind the string that begins here.
size_t end_of_string(std::string_view text, size_t begin) {
  size_t end = begin + 1;
  for (; text[end] != '"'; ++end) {
    if (text[end] == '\\') ++end;
  }
  return end + 1;
}

// The first in a text that is valid.
std::optional<RepeatedKey> find_repeated_key(std::string_view text) {
  std::vector<std::set<std::string>> open;  // the keys so far of each list and object; a list's are none
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[' || text[i] == '{') open.emplace_back();
    if (text[i] == ']' || text[i] == '}') open.pop_back();
    if (text[i] != '"') continue;
    const size_t end = end_of_string(text, i);
    const size_t next = text.find_first_not_of(" \t\r\n", end);
    if (next != std::string_view::npos && text[next] == ':') {
      const auto key = json::parse(text.substr(i, end - i)).get<std::string>();
      if (!open.back().insert(key).second) return RepeatedKey{i, key};
    }
    i = end - 1;
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
  // The library takes a byte of 0 for the end of the text, whatever follows it.
  if (const size_t zero = text.find('\0'); zero != std::string_view::npos)
    return fail(ErrorKind::parse, "this is no valid JSON", place_in(source, text, zero));
  try {
    json parsed = json::parse(text);
    if (const auto repeated = find_repeated_key(text)) {
      return fail(ErrorKind::parse,
                  fmt::format("the key {} stands in its object a second time here",
                              json(abridged(repeated->key)).dump()),
                  place_in(source, text, repeated->position));
    }
    return parsed;
  } catch (const json::parse_error& error) {
    return fail(ErrorKind::parse, "this is no valid JSON",
                place_in(source, text, error.byte == 0 ? 0 : error.byte - 1));
  } catch (const json::out_of_range&) {
    return fail(ErrorKind::parse, "it holds a number that is too large", source);
  }
}

}  // namespace lathe
