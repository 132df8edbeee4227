// The options that name what is compiled or tuned (cli/command.h).
#include <fmt/format.h>

#include <charconv>
#include <string>
#include <vector>

#include "cli/command.h"
#include "session/machine.h"

namespace lathe::cli {
namespace {

std::unexpected<Error> bad_input(const std::string& text) {
  return fail(ErrorKind::invalid_argument,
              fmt::format("'{}' is no input shape, it must look like NAME=1,3,224,224 or, where a size stays "
                          "free, NAME=1..16,3,224,224",
                          text),
              "--input");
}

struct InputShape {
  std::string name;
  Shape shape;  // the largest extents
  std::vector<FreeAxis> free;
};

// "16", "1..16" or "batch:1..16".
bool parse_extent(const std::string& text, InputShape& input) {
  const size_t colon = text.rfind(':');
  const char* at = text.data() + (colon == std::string::npos ? 0 : colon + 1);
  const char* const end = text.data() + text.size();
  int64_t least = 0;
  const auto [next, code] = std::from_chars(at, end, least);
  if (code != std::errc() || least < 0) return false;
  if (next == end) {
    input.shape.push_back(least);
    return colon == std::string::npos;
  }
  int64_t most = 0;
  if (end - next < 3 || next[0] != '.' || next[1] != '.') return false;
  const auto [last, last_code] = std::from_chars(next + 2, end, most);
  if (last_code != std::errc() || last != end || least < 1 || most < least || colon == 0) return false;
  const std::string name = colon == std::string::npos ? "" : text.substr(0, colon);
  if (least < most) input.free.push_back({input.shape.size(), name, least, most});
  input.shape.push_back(most);
  return true;
}

Result<InputShape> parse_input(const std::string& text) {
  const size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) return bad_input(text);
  InputShape input{text.substr(0, equals), {}, {}};
  if (equals + 1 == text.size()) return input;  // one number, without axes
  for (size_t at = equals + 1;;) {
    const size_t comma = text.find(',', at);
    if (!parse_extent(text.substr(at, comma == std::string::npos ? comma : comma - at), input))
      return bad_input(text);
    if (comma == std::string::npos) return input;
    at = comma + 1;
  }
}

}  // namespace

void add_program_options(OptionSet& command, ProgramOptions& options) {
  command.text("MODEL", options.source.model, "an ONNX model");
  command.texts("--input", options.inputs,
                "the shapes of inputs, NAME=1,3,640,640, in place of the model's; a size may stay free, "
                "NAME=1..16,3,640,640");
  command.number("--batch", options.source.sizes.batch,
                 "the leading extent of every input, in place of the model's", {1, int64_t{1} << 32});
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
    if (!input.free.empty()) source.sizes.free[input.name] = std::move(input.free);
    if (!source.input_shapes.insert({input.name, std::move(input.shape)}).second) {
      return fail(ErrorKind::invalid_argument, fmt::format("'{}' gives a shape a second time", text),
                  "--input");
    }
  }
  LATHE_TRY_STATUS(check_source(source));
  return source;
}

}  // namespace lathe::cli
