// Work that may need more memory than the machine gives: an Error then, where an exception would end all that
// the process does beside it.
#pragma once

#include <new>
#include <utility>

#include "base/result.h"

namespace lathe {

// What `work` gives, which is a Result; an Error of kind unsupported where memory for it was not to be had.
template <class Work>
auto within_memory(Work&& work) -> decltype(work()) {
  try {
    return std::forward<Work>(work)();
  } catch (const std::bad_alloc&) {
    return fail(ErrorKind::unsupported, "the machine has not enough memory for it");
  }
}

}  // namespace lathe
