// What tune and compile have in common where they write artifacts: their options, and what is said of each.
#pragma once

#include <optional>
#include <string>

#include "cli/options.h"
#include "session/commands/write_model.h"

namespace lathe::cli {

// What --name is for.
inline constexpr const char* kNameHelp =
    "what the model's functions and its library are called by: lathe_NAME_open ..; default: the file's or "
    "the "
    "operator's name";
// A line on stdout that names the artifact and says what one of its runs takes.
void print_written(const WrittenModel& written);
// Says on stderr why a program was not used, or none was there, or one of several was not written.
void report_rejected(const std::string& sentence);
// Says on stderr what is worth knowing and nothing's fault.
void report_note(const std::string& sentence);
// --weights-limit, of networks (CompileModelOptions::weights_limit).
void add_weights_limit(OptionSet& command, std::optional<double>& factor);
// The option --check, and what it says; none: nothing.
void add_check_option(OptionSet& options, std::string& check);
std::optional<Checked> checked_of(const std::string& name);

}  // namespace lathe::cli
