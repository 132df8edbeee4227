#include "space/program_length.h"

#include <fmt/format.h>

namespace lathe {

Status check_length(std::string_view block, int64_t statements) {
  if (statements <= kLongestBody) return {};
  return fail(
      ErrorKind::illegal_schedule,
      fmt::format("too long: the body of '{}' becomes {} statements by unrolling, of which {} are the "
                  "most",
                  block, statements, kLongestBody));
}

}  // namespace lathe
