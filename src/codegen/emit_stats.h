// What making machine code took and gave.
#pragma once

namespace lathe {

// What the register allocator left in memory where it hurts: a spill in the innermost loop of a register tile
// costs two to three times the kernel's speed.
struct SpillCount {
  int innermost_loops = 0;    // loops without a loop inside
  int stack_references = 0;   // instructions in them that read or write a stack slot
  int vector_references = 0;  // of those, the ones that move a vector: a register tile that does not fit
};

// Code that spills in its innermost loops may be emitted twice.
struct EmitStats {
  double emit_seconds = 0;     // the program to the backend's own form
  double passes_seconds = 0;   // its passes over that
  double machine_seconds = 0;  // instruction selection to bytes
  SpillCount spills;
};

}  // namespace lathe
