#include "artifact/runtime/model_error.h"

#include <cstdarg>
#include <cstdio>

namespace lathe {
namespace {

// Room for a path and a sentence about it.
thread_local char text[4096 + 512];

}  // namespace

bool model_error(const char* format, ...) {
  std::va_list values;
  va_start(values, format);
  std::vsnprintf(text, sizeof text, format, values);
  va_end(values);
  return false;
}

const char* last_model_error() { return text; }

}  // namespace lathe
