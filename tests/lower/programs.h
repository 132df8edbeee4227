// Programs for the tests of lowering: scheduled ones (schedule/programs.h), and how far passes take them.
#pragma once

#include <string>

#include "lower/lower.h"
#include "schedule/programs.h"
#include "target/all.h"

namespace lathe::testing {

// Runs the passes up to and including `pass`.
inline Program lowered_until(const Program& program, const std::string& pass) {
  LowerOptions options;
  options.stop_after = pass;
  Result<LoweredProgram> lowered = lower(program, generic_target("x86-avx2"), options);
  EXPECT_TRUE(lowered.has_value()) << lowered.error().to_string();
  return lowered ? lowered->program : program;
}

// What the program computes with the threads of each nest in some order.
inline std::vector<HostTensor> shuffled(const Program& program, uint64_t seed) {
  Rng rng(seed);
  InterpretOptions options;
  options.shuffle = &rng;
  const Result<Interpretation> result = interpret(program, inputs_of(program), options);
  EXPECT_TRUE(result) << result.error().to_string();
  return result ? result->outputs : std::vector<HostTensor>();
}

}  // namespace lathe::testing
