// The options that name what is compiled or tuned (cli/command.h).
#include <fmt/format.h>

#include <charconv>

#include "cli/command.h"
#include "session/machine.h"

namespace lathe::cli {
namespace {

std::unexpected<Error> bad_input(const std::string& text) {
  return fail(ErrorKind::invalid_argument,
              fmt::format("'{}' is no input shape, it must look like NAME=1,3,224,224", text), "--input");
}

Result<std::pair<std::string, Shape>> parse_input(const std::string& text) {
  const size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) return bad_input(text);
  Shape shape;
  const char* at = text.data() + equals + 1;
  const char* const end = text.data() + text.size();
  while (true) {
    int64_t extent = 0;
    const auto [next, code] = std::from_chars(at, end, extent);
    if (code != std::errc() || extent < 0) return bad_input(text);
    shape.push_back(extent);
    if (next == end) return std::pair(text.substr(0, equals), shape);
    if (*next != ',') return bad_input(text);
    at = next + 1;
  }
}

}  // namespace

void add_program_options(OptionSet& command, ProgramOptions& options) {
  command.text("MODEL", options.source.model, "an ONNX model");
  command.texts("--input", options.inputs, "the shapes of inputs, NAME=1,3,640,640, in place of the model's");
  command.text("--workload", options.source.workload, "a JSON file of operators, in place of a model");
  command.text("--precision", options.source.precision,
               "the type that a model's weights are kept in, and what products multiply where the machine "
               "multiplies it: bf16 or f16; default: as the model has them",
               {.one_of = {"bf16", "f16"}});
  add_workload_options(command, options);
}

void add_workload_options(OptionSet& command, ProgramOptions& options) {
  command.text("--filter", options.source.filter, "only the operators whose names match this expression",
               {.may_be_empty = true});
  command.text("--target", options.source.target, "one of " + known_targets(), {.shows_default = true});
  command.number("--cores", options.source.cores, "how many cores; default: all that this process may use",
                 {1, 4096});
  command.flag("--exact-specials", options.source.exact_specials,
               "no program in which an infinity or NaN reaches results beside those that read it");
}

Result<ProgramSource> source_of(const ProgramOptions& options) {
  ProgramSource source = options.source;
  for (const std::string& text : options.inputs) {
    LATHE_TRY(auto input, parse_input(text));
    if (!source.input_shapes.insert(std::move(input)).second) {
      return fail(ErrorKind::invalid_argument, fmt::format("'{}' gives a shape a second time", text),
                  "--input");
    }
  }
  LATHE_TRY_STATUS(check_source(source));
  return source;
}

}  // namespace lathe::cli
