// What a user sets by name: "annealing:chains=64,steps=200" is a name with settings. Whoever has settings
// lists them once, in a table of names, members and what is legal, from which texts are read and help is
// written.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace lathe {

struct NamedSettings {
  std::string name;
  std::vector<std::pair<std::string, std::string>> settings;  // as written, each name once
};

// An error where a setting is not of the form name=value, or comes twice.
Result<NamedSettings> parse_named(std::string_view text);

// One member of a struct of options that can be set: a number between two bounds, or one of a list of words.
template <class Options>
struct Setting {
  using OptionsType = Options;

  const char* name;
  std::variant<int Options::*, double Options::*, std::string Options::*> member;
  double least = 0;
  double most = 0;
  std::vector<std::string> words = {};  // of a text; empty: any
};

template <class Table>
using OptionsOf = typename Table::value_type::OptionsType;

// The sentence of a setting that there is not, or whose value is not legal.
std::string unknown_setting(std::string_view of, std::string_view name,
                            const std::vector<std::string>& legal);
std::string illegal_number(std::string_view name, std::string_view value, double least, double most);
std::string illegal_word(std::string_view name, std::string_view value,
                         const std::vector<std::string>& words);

namespace settings_internal {

template <class Options>
Status set(Options& options, const Setting<Options>& setting, const std::string& value) {
  const auto number = [&](auto& into) -> Status {
    auto parsed = into;
    const char* end = value.data() + value.size();
    const auto [at, code] = std::from_chars(value.data(), end, parsed);
    const auto checked = static_cast<double>(parsed);
    if (code != std::errc() || at != end || !(checked >= setting.least && checked <= setting.most))
      return fail(ErrorKind::invalid_argument,
                  illegal_number(setting.name, value, setting.least, setting.most));
    into = parsed;
    return {};
  };
  if (const auto* integer = std::get_if<int Options::*>(&setting.member)) return number(options.**integer);
  if (const auto* real = std::get_if<double Options::*>(&setting.member)) return number(options.**real);
  if (!setting.words.empty() && std::ranges::find(setting.words, value) == setting.words.end())
    return fail(ErrorKind::invalid_argument, illegal_word(setting.name, value, setting.words));
  options.*std::get<std::string Options::*>(setting.member) = value;
  return {};
}

}  // namespace settings_internal

// `defaults` with what `named` sets; an error names the setting and what is legal.
template <class Options>
Result<Options> with_settings(Options defaults, const std::vector<Setting<Options>>& table,
                              const NamedSettings& named) {
  for (const auto& [name, value] : named.settings) {
    const auto found = std::ranges::find_if(table, [&](const auto& setting) { return name == setting.name; });
    if (found == table.end()) {
      std::vector<std::string> legal;
      for (const auto& setting : table) legal.emplace_back(setting.name);
      return fail(ErrorKind::invalid_argument, unknown_setting(named.name, name, legal));
    }
    LATHE_TRY_STATUS(settings_internal::set(defaults, *found, value));
  }
  return defaults;
}

}  // namespace lathe
