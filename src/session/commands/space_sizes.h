// The command `explain --space`: what a space derives for operators or the tasks of a network, beside what
// the papers give.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "session/program_source.h"

namespace lathe {

struct SketchSize {
  std::string name;
  int64_t points = 0;  // saturates
  size_t choices = 0;
};

struct SpaceSize {
  std::string name;  // of the operator or task
  std::vector<SketchSize> sketches;
  double points = 0;
  std::string paper = "";  // "[B] table I: 3 sketches"; empty: no paper gives it
  // Why the space has no program for it, where it has none.
  std::string reason = "";
};

// Of each operator of the source, or task of its model, for its target. An Error where there is no such
// space, operator or model.
Result<std::vector<SpaceSize>> space_sizes(const ProgramSource& source, const std::string& space);

}  // namespace lathe
