#include "cli/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdlib>

namespace lathe::cli {
namespace {

void apply(CLI::Option& option, const OptionRules& rules) {
  if (!rules.one_of.empty()) option.check(CLI::IsMember(rules.one_of));
  if (rules.is_required) option.required();
  if (rules.shows_default) option.capture_default_str();
}

}  // namespace

void OptionSet::text(const char* name, std::string& value, const char* help, const OptionRules& rules) {
  // A script's variable that is not set must not become the root folder.
  const auto check_text = [](const std::string& text) {
    return text.empty() ? std::string("the text is empty") : std::string();
  };
  CLI::Option& option = *command_.add_option(name, value, help);
  if (!rules.may_be_empty) option.check(check_text);
  apply(option, rules);
}

void OptionSet::arguments(const char* name, std::vector<std::string>& values, const char* help) {
  command_.add_option(name, values, help)->required();
}

void OptionSet::texts(const char* name, std::vector<std::string>& values, const char* help) {
  command_.add_option(name, values, help)->allow_extra_args(false);
}

void OptionSet::number(const char* name, int& value, const char* help, Bounds<int> bounds,
                       const OptionRules& rules) {
  apply(*command_.add_option(name, value, help)->check(CLI::Range(bounds.least, bounds.most)), rules);
}

void OptionSet::number(const char* name, std::optional<int64_t>& value, const char* help,
                       Bounds<int64_t> bounds) {
  command_.add_option(name, value, help)->check(CLI::Range(bounds.least, bounds.most));
}

void OptionSet::number(const char* name, std::optional<double>& value, const char* help,
                       Bounds<double> bounds) {
  // NaN is beyond no bound.
  const auto check_number = [bounds](const std::string& text) {
    return std::isnan(std::strtod(text.c_str(), nullptr))
               ? fmt::format("Value {} not in range {} to {}", text, bounds.least, bounds.most)
               : std::string();
  };
  command_.add_option(name, value, help)->check(CLI::Range(bounds.least, bounds.most))->check(check_number);
}

void OptionSet::number(const char* name, int64_t& value, const char* help, const OptionRules& rules) {
  apply(*command_.add_option(name, value, help), rules);
}

void OptionSet::number(const char* name, uint64_t& value, const char* help, const OptionRules& rules) {
  // The parser would take -1 for the largest number.
  const auto check_sign = [](const std::string& text) {
    return text.starts_with('-') ? fmt::format("Value {} not in range 0 to {}", text, UINT64_MAX)
                                 : std::string();
  };
  apply(*command_.add_option(name, value, help)->check(check_sign), rules);
}

void OptionSet::flag(const char* name, bool& value, const char* help) {
  command_.add_flag(name, value, help);
}

bool OptionSet::has(const char* name) const { return command_.count(name) > 0; }

void OptionSet::action(Action& chosen, Action action) {
  command_.callback([&chosen, action = std::move(action)] { chosen = action; });
}

CLI::App& add_group(CLI::App& app, const char* name, const char* help) {
  CLI::App& group = *app.add_subcommand(name, help);
  group.require_subcommand(1);
  return group;
}

OptionSet add_command(CLI::App& app, const char* name, const char* help) {
  return OptionSet(*app.add_subcommand(name, help));
}

}  // namespace lathe::cli
