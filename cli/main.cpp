// lathe: the command line. Exit status 0, 1 where the user's input or machine is at fault (one sentence on
// stderr), 2 for an error of Lathe's own; a command that a signal ended ends by that signal.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <exception>
#include <new>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/compiler_version.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/interrupt.h"
#include "cli/repeat_options.h"

namespace {

using lathe::cli::Action;

constexpr int kUserError = 1;
constexpr int kInternalError = 2;

void report(const std::string& text) { lathe::cli::to_stderr("lathe: {}\n", text); }

// The exit status once all has been said, or could not be.
int ended_with(int exit_status) {
  const lathe::Status printed = lathe::cli::finish_stdout();
  if (printed) return exit_status;
  report(printed.error().to_string());
  return std::max(exit_status, kUserError);
}

// The parser's own errors may have several lines.
std::string one_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  return text;
}

// The parser tells wrong numbers of values in its own terms: "--trials: 1 required INT:INT in [..] missing".
std::string explain_values(const std::string& text) {
  const std::string name = text.substr(0, text.find_first_of(": "));
  const std::string received = "At Most 1 required but received ";
  if (text.ends_with(" missing")) return name + " needs a value";
  if (text.ends_with(" was given a disallowed flag override")) return name + " takes no value";
  const size_t found = text.find(received);
  if (found == std::string::npos) return text;
  return name + " is given " + text.substr(found + received.size()) + " times";
}

// One sentence for what the parser could not take. It looks for missing options first: a misspelt one is the
// better explanation.
std::string explain(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<std::string> unknown = app.remaining(true);
  if (unknown.empty()) {
    const bool is_count = dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr;
    return is_count ? explain_values(one_line(error.what())) : one_line(error.what());
  }
  const CLI::App* chosen = &app;
  std::string words;
  while (!chosen->get_subcommands().empty()) {
    chosen = chosen->get_subcommands().front();
    words += chosen->get_name() + " ";
  }
  const bool has_commands = !chosen->get_subcommands([](const CLI::App*) { return true; }).empty();
  const bool is_command = has_commands && !unknown.front().starts_with("-");
  return is_command ? "there is no command '" + words + unknown.front() + "'"
                    : "there is no option or argument '" + unknown.front() + "' here";
}

// Whether the words end before a subcommand that is needed, as those of bare `lathe` or `lathe records` do.
bool is_unfinished(const CLI::App& app, const CLI::ParseError& error) {
  if (dynamic_cast<const CLI::RequiredError*>(&error) == nullptr) return false;
  const CLI::App* last = &app;
  while (!last->get_subcommands().empty()) last = last->get_subcommands().front();
  return !last->get_subcommands([](const CLI::App*) { return true; }).empty() && app.remaining(true).empty();
}

int run(int count, char** arguments) {
  CLI::App app("Lathe compiles networks and operators to fast machine code that it finds by measuring.",
               "lathe");
  app.set_version_flag("--version", "lathe " + lathe::compiler_version());
  app.require_subcommand(1);
  Action action;
  lathe::cli::add_tune(app, action);
  lathe::cli::add_bench(app, action);
  lathe::cli::add_compile(app, action);
  lathe::cli::add_run(app, action);
  lathe::cli::add_verify(app, action);
  lathe::cli::add_show(app, action);
  lathe::cli::add_replay(app, action);
  lathe::cli::add_explain(app, action);
  lathe::cli::add_report(app, action);
  lathe::cli::add_records(app, action);
  lathe::cli::add_table(app, action);
  lathe::cli::add_experiment(app, action);
  lathe::cli::add_model(app, action);
  lathe::cli::add_target(app, action);
  try {
    std::vector<std::string> words = lathe::cli::repeat_options({arguments + 1, arguments + count});
    std::ranges::reverse(words);  // the parser begins at the end
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      std::ostringstream text;
      app.exit(error, text, text);
      lathe::cli::write_to_stdout(text.str());
      return ended_with(0);
    }
    if (is_unfinished(app, error)) {
      lathe::cli::write_to_stderr(app.help());
      return kUserError;
    }
    report(explain(app, error) + " (lathe --help tells more)");
    return kUserError;
  }
  const lathe::Status status = action();
  if (!status.has_value()) report(status.error().to_string());
  lathe::cli::end_by_noted_interrupt();
  return ended_with(status.has_value() ? 0 : kUserError);
}

}  // namespace

int main(int count, char** arguments) {
  lathe::cli::prepare_console();
  lathe::cli::handle_interrupts();
  // A limit on the size of files is an error of the write that meets it, which says so.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return run(count, arguments);
  } catch (const std::bad_alloc&) {
    report("the machine has not enough memory for this");
    return kUserError;
  } catch (const std::exception& error) {
    report(error.what());
    return kInternalError;
  }
}
