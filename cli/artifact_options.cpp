#include "cli/artifact_options.h"

#include <fmt/format.h>

#include "cli/console.h"

namespace lathe::cli {
namespace {

std::string time_text(const ArtifactTime& time) {
  constexpr double kShort = 1e-4;
  return fmt::format(", {:.{}f} ms a run (median of {}, spread {:.1f} %)", time.seconds * 1e3,
                     time.seconds < kShort ? 5 : 3, time.samples, 100 * time.spread);
}

}  // namespace

void print_written(const WrittenModel& written) {
  to_stdout("{}: {}{}\n", written.name, written.folder, written.time ? time_text(*written.time) : "");
  if (written.precision) to_stdout("{}: {}\n", written.name, to_string(*written.precision));
  if (written.untimed)
    report_note(fmt::format("{}: its latency is unknown: {}", written.name, *written.untimed));
}

void report_note(const std::string& sentence) { to_stderr("lathe: note: {}\n", sentence); }

void add_weights_limit(OptionSet& command, std::optional<double>& factor) {
  command.number("--weights-limit", factor,
                 "a network's weights take at most so many times the bytes of its constants; default: 2, 0: "
                 "any number",
                 {0, 1e9});
}

void report_rejected(const std::string& sentence) { to_stderr("lathe: {}\n", sentence); }

std::optional<Checked> checked_of(const std::string& name) {
  if (name == "full") return Checked::full;
  if (name == "sampled") return Checked::sampled;
  if (name == "none") return Checked::none;
  return std::nullopt;
}

void add_check_option(OptionSet& options, std::string& check) {
  options.text("--check", check,
               "how much of what each kernel computes is compared with a reference: full, sampled or none; "
               "default: full, but sampled where that takes over a minute",
               {.one_of = {"full", "sampled", "none"}});
}

}  // namespace lathe::cli
