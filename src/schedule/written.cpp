#include "schedule/written.h"

#include "schedule/apply.h"

namespace lathe {

Result<std::shared_ptr<const Written>> write_program(const Task& task, Trace trace) {
  LATHE_TRY(Program program, apply_trace(task, trace));
  const uint64_t hash = hash_of(trace);
  return std::make_shared<const Written>(Written{std::move(trace), hash, std::move(program)});
}

}  // namespace lathe
