#include "artifact/pack_constants.h"

#include <algorithm>

#include "base/check.h"
#include "compile/compile.h"
#include "loop/host_tensor.h"
#include "runtime/launch.h"
#include "target/all.h"
#include "target/detect.h"

namespace lathe {
namespace {

template <class Element>
void pack_as(const Argument& argument, const Bytes& row_major, std::span<std::byte> to) {
  const auto* const from = reinterpret_cast<const Element*>(row_major.data());
  auto* const packed = reinterpret_cast<Element*>(to.data());
  for_each_offset_nearby(argument.layout, argument.tensor->shape,
                         [&](int64_t position, int64_t offset) { packed[offset] = from[position]; });
}

// A constant's row-major bytes in the layout that the program gives it; what belongs to no element stays as
// it is.
void pack(const Argument& argument, const Bytes& row_major, std::span<std::byte> to) {
  switch (bytes_of(argument.tensor->dtype)) {
    case 1: return pack_as<uint8_t>(argument, row_major, to);
    case 2: return pack_as<uint16_t>(argument, row_major, to);
    case 4: return pack_as<uint32_t>(argument, row_major, to);
    default: return pack_as<uint64_t>(argument, row_major, to);
  }
}

// A program for a processor that this machine does not have is compiled for the one that it has: layouts are
// the program's, whatever runs it.
Result<Instance> instance_here(const CompiledTask& kernel) {
  if (check_runs_here(kernel.task.target)) return Instance::create(kernel.module);
  LATHE_TRY(const Target native, detect_target());
  LATHE_TRY(const Module module, compile_program(kernel.program, native));
  return Instance::create(module);
}

Status prepare(const ModelConstants& constants, const CompiledTask& kernel, const PackedTaker& take) {
  LATHE_TRY(Instance instance, instance_here(kernel));
  for (size_t i = 0; i < constants.values.size(); ++i) {
    if (constants.values[i] == nullptr) continue;
    pack(kernel.program.arguments[i], *constants.values[i], instance.buffer(i));
  }
  LATHE_TRY_STATUS(instance.prepare());
  LATHE_TRY_STATUS(instance.check_slack());
  for (const size_t buffer : constants.kept) LATHE_TRY_STATUS(take(buffer, instance.buffer(buffer)));
  return {};
}

}  // namespace

Status pack_constants(const ModelConstants& constants, const CompiledTask& kernel, const PackedTaker& take) {
  const size_t arguments = constants.values.size();
  if (std::ranges::any_of(constants.kept, [&](size_t buffer) { return buffer >= arguments; }))
    return prepare(constants, kernel, take);
  for (const size_t buffer : constants.kept) {
    LATHE_CHECK(constants.values[buffer] != nullptr);
    Bytes bytes(static_cast<size_t>(kernel.module.buffers[buffer].bytes));
    pack(kernel.program.arguments[buffer], *constants.values[buffer], bytes);
    LATHE_TRY_STATUS(take(buffer, bytes));
  }
  return {};
}

}  // namespace lathe
