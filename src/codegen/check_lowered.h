// The code generators' precondition, checked once, so that they themselves need no error paths.
#pragma once

#include "base/result.h"
#include "lower/lower.h"

namespace lathe {

// The largest buffer in registers: it may end on the stack, where a thread has no room for more.
inline constexpr int64_t kMaxRegisterBytes = 32 << 10;

// An invalid_program error names the first statement, access or operation that lowering should have removed,
// or the buffer that lies nowhere; an unsupported error names the element type that has no code yet.
Status check_lowered(const LoweredProgram& lowered);
// The same of a program whose loops run side by side as blocks and threads, and on no other threads.
Status check_lowered_kernels(const LoweredProgram& lowered);

}  // namespace lathe
