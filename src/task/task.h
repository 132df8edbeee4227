// What is tuned: a Dag on a target, with each argument's role and layout. Two tasks with the same structure
// have the same hash whatever their names; how often a network runs a task is a weight outside of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "expr/dag.h"
#include "target/target.h"
#include "task/layout.h"

namespace lathe {

struct Argument {
  Tensor tensor;
  bool is_constant = false;  // its value is known at load time: it may be transformed beforehand
  bool is_output = false;
  bool layout_is_free = false;  // the schedule may choose the layout; otherwise `layout` is given
  Layout layout;
  bool streams = false;  // written past the caches; decided by the schedule
};

constexpr const char* kExactSpecials = "exact_specials";

struct Task {
  std::string name;  // for people; no part of the identity
  Dag dag;
  Target target;
  std::vector<Argument> arguments;  // the Dag's inputs, then its outputs
  // Its constants and outputs are not in the caches when it begins: what runs between two of its runs has
  // displaced them. It is timed so.
  bool runs_cold = false;
  // The rule of src/rewrite by which it must be computed, such as "winograd"; kExactSpecials: by any program
  // in which an infinity or NaN reaches no result whose formula does not read it; empty: by any program.
  std::string algorithm = {};
};

// A task with row-major layouts; `constants` names the inputs that may be transformed beforehand; with
// `free_layouts` the other arguments' layouts may be chosen. An Error names a constant that is no input.
Result<Task> make_task(std::string name, Dag dag, Target target,
                       const std::vector<std::string>& constants = {}, bool free_layouts = false);

// Structure, roles, layouts, the target's name and cores, whether it runs cold, a required algorithm; not
// names.
uint64_t hash_of(const Task& task);
// Operations on values that the Dag's bodies ask for, whatever their type: an arithmetic operator, a
// comparison or a function of values counts one, a reduction one for each of its points (so a multiply-add
// counts two), a select its condition and the costlier side. Index arithmetic (i64), logic on conditions,
// casts and loads count nothing: a padding node has no operations.
int64_t flops_of(const Dag& dag);
// Of all inputs and outputs, each once: what must come from memory and go there where no cache holds any of
// it.
int64_t bytes_of(const Dag& dag);

}  // namespace lathe
