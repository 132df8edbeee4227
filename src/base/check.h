// LATHE_CHECK: an invariant of our own code. A failure is a bug in Lathe, never the user's fault;
// it throws InternalError, which the command line turns into exit status 2.
#pragma once

#include <stdexcept>
#include <string>

namespace lathe {

class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] inline void check_failed(const char* condition, const char* file, int line) {
  throw InternalError(std::string("internal error: ") + condition + " does not hold at " + file + ":" +
                      std::to_string(line));
}

}  // namespace lathe

#define LATHE_CHECK(condition) ((condition) ? void(0) : ::lathe::check_failed(#condition, __FILE__, __LINE__))
