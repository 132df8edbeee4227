#include "base/settings.h"

#include <fmt/ranges.h>

namespace lathe {

Result<NamedSettings> parse_named(std::string_view text) {
  const size_t colon = text.find(':');
  NamedSettings named{std::string(text.substr(0, colon)), {}};
  std::string_view rest = colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
  while (!rest.empty()) {
    const std::string_view setting = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), setting.size() + 1));
    const size_t equals = setting.find('=');
    if (equals == std::string_view::npos || equals == 0)
      return fail(ErrorKind::invalid_argument,
                  fmt::format("'{}' in '{}' is not of the form name=value", setting, text));
    std::string name(setting.substr(0, equals));
    for (const auto& [other, value] : named.settings)
      if (other == name)
        return fail(ErrorKind::invalid_argument, fmt::format("'{}' is set twice in '{}'", name, text));
    named.settings.emplace_back(std::move(name), setting.substr(equals + 1));
  }
  return named;
}

std::string unknown_setting(std::string_view of, std::string_view name,
                            const std::vector<std::string>& legal) {
  if (legal.empty()) return fmt::format("'{}' has nothing to set, so no '{}'", of, name);
  return fmt::format("'{}' has no setting '{}'; it has {}", of, name, fmt::join(legal, ", "));
}

std::string illegal_number(std::string_view name, std::string_view value, double least, double most) {
  return fmt::format("{} is '{}', but must be a number from {} to {}", name, value, least, most);
}

std::string illegal_word(std::string_view name, std::string_view value,
                         const std::vector<std::string>& words) {
  return fmt::format("{} is '{}', but must be one of {}", name, value, fmt::join(words, ", "));
}

}  // namespace lathe
