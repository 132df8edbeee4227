#ifdef __x86_64__
#include "measure/fault_kind.h"

namespace lathe {
namespace {

constexpr greg_t kWasWrite = 2;  // a bit of a page fault's error code

}  // namespace

bool was_write(const ucontext_t& state) { return (state.uc_mcontext.gregs[REG_ERR] & kWasWrite) != 0; }

}  // namespace lathe
#endif
