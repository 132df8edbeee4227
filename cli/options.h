// How a command's file declares its options. The parser behind them (CLI11) takes longer to compile than a
// command does, so only options.cpp and main.cpp see it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace CLI {
class App;
}

namespace lathe::cli {

// What the command does; its Error is the user's fault.
using Action = std::function<Status()>;

// What may be given, and what the help says of it.
struct OptionRules {
  bool is_required = false;
  bool shows_default = false;
  bool may_be_empty = false;
  std::vector<std::string> one_of = {};  // empty: any text
};

// The bounds of a number, both legal.
template <class Number>
struct Bounds {
  Number least;
  Number most;
};

// The options of one command. A name that begins with a dash is an option's, any other an argument's. Values
// are written when the command line is parsed: they must live until the action has run.
class OptionSet {
 public:
  explicit OptionSet(CLI::App& command) : command_(command) {}

  void text(const char* name, std::string& value, const std::string& help, const OptionRules& rules = {});
  // One or more values of one argument.
  void arguments(const char* name, std::vector<std::string>& values, const char* help);
  // An option that may be given several times, once for each value (repeat_options.h).
  void texts(const char* name, std::vector<std::string>& values, const char* help);
  void number(const char* name, int& value, const char* help, Bounds<int> bounds,
              const OptionRules& rules = {});
  void number(const char* name, std::optional<int64_t>& value, const char* help, Bounds<int64_t> bounds);
  void number(const char* name, std::optional<uint64_t>& value, const char* help);
  void number(const char* name, std::optional<double>& value, const char* help, Bounds<double> bounds);
  void number(const char* name, int64_t& value, const char* help, const OptionRules& rules = {});
  void number(const char* name, uint64_t& value, const char* help, const OptionRules& rules = {});
  void flag(const char* name, bool& value, const char* help);
  // Whether the command line gives this option.
  bool has(const char* name) const;
  // What is left in `chosen` if the command line names this command.
  void action(Action& chosen, Action action);

 private:
  CLI::App& command_;
};

// A new command of `app`.
OptionSet add_command(CLI::App& app, const char* name, const char* help);

// A command that is only the first word of others.
CLI::App& add_group(CLI::App& app, const char* name, const char* help);

}  // namespace lathe::cli
