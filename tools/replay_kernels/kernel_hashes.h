// What a task is compiled to, in short: hashes of the trace, the machine code and the C text of the program
// that tuning begins with and of some drawn at random.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "task/task.h"

namespace lathe {

constexpr int kDrawnPoints = 8;

// Of one program; an Error on the way, such as too many statements, has its sentence hashed in place of what
// it kept from being made.
struct KernelHashes {
  uint32_t trace = 0;
  uint32_t object = 0;  // the machine code and what a caller must know of its buffers
  uint32_t c_text = 0;

  bool operator==(const KernelHashes&) const = default;
};

// Trial 0 first, then kDrawnPoints others, drawn by a generator that its name alone seeds. An Error
// where the space cannot be derived.
Result<std::vector<KernelHashes>> kernel_hashes(const Task& task);

}  // namespace lathe
