// What a processor tells of an access that faulted. Each architecture has it in a folder of its own.
#pragma once

#include <ucontext.h>

namespace lathe {

// Whether the access was a write, of the state that a handler of SIGSEGV or SIGBUS is given; false where the
// processor did not say. Safe in a signal handler.
bool was_write(const ucontext_t& state);

}  // namespace lathe
