// Why a task's best program is the best: the program in words, where its time must go, what else was tried.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "explain/stage_bounds.h"
#include "explain/tried.h"
#include "records/record.h"

namespace lathe {

struct StepInWords {
  std::string subject;
  std::string words;
};

// A sketch's best program beside the winner.
struct Rival {
  Tried tried;
  // Where its time must go at least; empty where it has no program, or it does not apply any more.
  std::vector<StageBound> stages = {};

  double bound_seconds() const;
};

struct Explanation {
  Record best;
  double flops = 0;  // of the formula as written: zeros between a transposed convolution's inputs count
  std::vector<StepInWords> steps;
  std::vector<Rival> sketches;             // the winner's first
  std::vector<ParameterTried> parameters;  // of the winner's sketch
  std::vector<Tried> failures;
};

// Of one task's records on one target with one number of cores. Without a roofline there are no bounds. An
// Error where none of them has a program, or the best one is damaged.
Result<Explanation> explain(std::span<const Record> records, const std::optional<Roofline>& roofline);

}  // namespace lathe
