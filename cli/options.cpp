#include "cli/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <string_view>

namespace lathe::cli {
namespace {

void apply(CLI::Option& option, const OptionRules& rules) {
  if (!rules.one_of.empty()) option.check(CLI::IsMember(rules.one_of));
  if (rules.is_required) option.required();
  if (rules.shows_default) option.capture_default_str();
}

template <class Number>
std::string not_in_range(const std::string& text, Bounds<Number> bounds) {
  return fmt::format("Value {} not in range {} to {}", text, bounds.least, bounds.most);
}

// The parser's own reading takes what is too large for the largest number, and 010 for 8: it is given the
// number as it prints.
template <class Number>
CLI::Validator whole_number(Bounds<Number> bounds, const std::string& description) {
  const auto check = [bounds](std::string& text) {
    const std::string_view digits = std::string_view(text).substr(text.starts_with('-') ? 1 : 0);
    if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos)
      return fmt::format("'{}' is no whole number", text);
    Number value = 0;
    const std::errc code = std::from_chars(text.data(), text.data() + text.size(), value).ec;
    if (code != std::errc() || value < bounds.least || value > bounds.most) return not_in_range(text, bounds);
    text = std::to_string(value);
    return std::string();
  };
  return {check, description};
}

template <class Number>
CLI::Validator whole_number(Bounds<Number> bounds) {
  return whole_number(bounds, fmt::format("INT in [{} - {}]", bounds.least, bounds.most));
}

// Any that the type holds, of which the help says nothing.
template <class Number>
CLI::Validator any_whole_number() {
  using Limits = std::numeric_limits<Number>;
  return whole_number(Bounds<Number>{Limits::min(), Limits::max()}, "");
}

CLI::Validator real_number(Bounds<double> bounds) {
  const auto check = [bounds](std::string& text) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0') return fmt::format("'{}' is no number", text);
    // NaN is in no range.
    return value >= bounds.least && value <= bounds.most ? std::string() : not_in_range(text, bounds);
  };
  return {check, fmt::format("FLOAT in [{:g} - {:g}]", bounds.least, bounds.most)};
}

}  // namespace

void OptionSet::text(const char* name, std::string& value, const std::string& help,
                     const OptionRules& rules) {
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
  apply(*command_.add_option(name, value, help)->transform(whole_number(bounds)), rules);
}

void OptionSet::number(const char* name, std::optional<int64_t>& value, const char* help,
                       Bounds<int64_t> bounds) {
  command_.add_option(name, value, help)->transform(whole_number(bounds));
}

void OptionSet::number(const char* name, std::optional<uint64_t>& value, const char* help) {
  command_.add_option(name, value, help)->transform(any_whole_number<uint64_t>());
}

void OptionSet::number(const char* name, std::optional<double>& value, const char* help,
                       Bounds<double> bounds) {
  command_.add_option(name, value, help)->transform(real_number(bounds));
}

void OptionSet::number(const char* name, int64_t& value, const char* help, const OptionRules& rules) {
  apply(*command_.add_option(name, value, help)->transform(any_whole_number<int64_t>()), rules);
}

void OptionSet::number(const char* name, uint64_t& value, const char* help, const OptionRules& rules) {
  apply(*command_.add_option(name, value, help)->transform(any_whole_number<uint64_t>()), rules);
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
