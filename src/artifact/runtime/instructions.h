// The processors that models are compiled for, as the runtime knows them: a library holds those of its own
// architecture, from the folder of that name.
#pragma once

#include <cstdint>

#include "artifact/runtime/copy_plane.h"

namespace lathe {

struct Instructions {
  const char* target;  // of the models: a name of the table of targets (target/all.h)
  const char* needs;   // what their processors must have, in words
  bool (*run_here)();
  // Of such extensions, a bit each in the order of the architecture's (target/cpu/cpu_target.h), the first
  // that this processor lacks, in words; null: none.
  const char* (*lacking)(uint32_t extensions);
  // By vector instructions, for elements of 1, 2, 4 or 8 bytes and runs of up to kLongestRun; null: there are
  // none that are better than copying element by element.
  void (*transpose)(const CopyPlane& plane, int32_t element_bytes);
};

// Null for a model of another architecture.
const Instructions* find_instructions(const char* target);

}  // namespace lathe
