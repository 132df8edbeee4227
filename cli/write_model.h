// The last step of compile and tune: the artifact's folder, and a line on stdout that names it and says what
// one of its runs takes.
#pragma once

#include <optional>
#include <string>

#include "artifact/model.h"
#include "base/deadline.h"
#include "base/result.h"
#include "cli/options.h"

namespace lathe::cli {

// The folder of an operator's artifact below that of --out, however that ends.
std::string folder_below(const std::string& out, const std::string& name);
// The run is timed where this machine can run it, as long as the deadline lets it; one that is long is told
// of on a progress line of its own.
Status write_model(Model model, const std::string& folder, const Deadline& deadline = {});
// An Error where write_model would find no compiler.
Status check_compiler();
// What --name is for, and an Error for one that is none, or that would be the name of several models; empty:
// each has its own.
inline constexpr const char* kNameHelp =
    "what the model's functions and its library are called by: lathe_NAME_open ..; default: the file's or "
    "the "
    "operator's name";
Status check_name(const std::string& name, size_t models);
// Says on stderr why a program was not used, or none was there, or one of several was not written.
void report_rejected(const std::string& sentence);
// Says on stderr what is worth knowing and nothing's fault.
void report_note(const std::string& sentence);
// --weights-limit, of networks (CompileModelOptions::weights_limit).
void add_weights_limit(OptionSet& command, std::optional<double>& factor);
// Names the kernels whose results were not all compared with a reference, and says why; none: all were.
std::optional<std::string> uncompared_note(const Model& model);
// The option --check, and what it says; none: nothing.
void add_check_option(OptionSet& options, std::string& check);
std::optional<Checked> checked_of(const std::string& name);
// write_model for the kernels as C sources.
Status write_model_sources(Model model, const std::string& folder);

}  // namespace lathe::cli
