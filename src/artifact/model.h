// What an artifact is made of, as a value: compiled tasks, the order in which their kernels run, and where
// each buffer lies. An operator is a model of one launch whose constants are inputs; a network's constants
// are weights, packed and prepared when they are written (weights.h). Plain values; building is a pure
// function.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "loop/loop.h"
#include "module/module.h"
#include "network/free_sizes.h"
#include "schedule/trace.h"
#include "task/task.h"

namespace lathe {

// How much of what a kernel computes was compared with a reference.
enum class Checked : uint8_t { none, sampled, full };
const char* to_string(Checked checked);

struct CompiledTask {
  Task task;
  Trace trace;
  std::optional<int64_t> record;  // where the trace comes from; none: it was never measured
  Program program;                // the scheduled one: the layouts of arguments and prepared buffers
  Module module;
  Checked checked = Checked::none;
  // Why not as much of what it computes was compared with a reference as was to be.
  std::optional<std::string> uncompared = {};
  // There is a recorded program, and this one, which has no record, was faster with its conversions, or
  // keeps within the limit of weights.
  bool goes_before_records = false;
};

// `number` makes the entries' symbols unique within a model. An Error as compile gives it.
Result<CompiledTask> compile_task(const Task& task, const Trace& trace, std::optional<int64_t> record,
                                  size_t number);

// The prefix of that kernel's symbols.
std::string symbol_prefix(size_t number);

// Where a buffer of a launch lies; `place` is the number of the input or output, of a pointer that moves with
// the steps of a loop, or an offset in bytes.
enum class ModelStorage { input, output, arena, weights, resident, pointer };
struct ModelBinding {
  ModelStorage storage = ModelStorage::arena;
  int64_t place = 0;
};

// That many bytes behind the begin of a buffer, in step n of a loop n strides more.
struct ModelStepPlace {
  ModelBinding base;
  int64_t offset = 0;
  int64_t stride = 0;
};

// Where a buffer lies in step 0 of a loop, in even and in odd ones (network/place_steps.h).
struct ModelPointer {
  ModelStepPlace first;
  ModelStepPlace even;
  ModelStepPlace odd;
};

// Launches that run once for each step. Its pointers are set before each step, `last_count` behind these when
// the last one is over, as for the step that would follow.
struct ModelLoop {
  std::string name;  // for people
  int64_t steps = 1;
  size_t first_launch = 0;
  size_t launch_count = 0;  // those of inner loops included
  size_t first_pointer = 0;
  size_t pointer_count = 0;
  size_t last_count = 0;  // of pointers behind these
  struct Condition {
    ModelBinding begins;   // one bool, read before the first step
    ModelBinding goes_on;  // one bool, read behind each
  };
  std::optional<Condition> condition = {};
};

struct ModelLaunch {
  std::string name;  // for people
  size_t kernel = 0;
  std::vector<ModelBinding> buffers;  // in the module's order
  std::vector<std::string> operators =
      {};  // that it computes, for people: of a network's nodes, a workload's
};

// An input or output: row-major for the caller, in `layout` for the kernels.
struct ModelTensor {
  std::string name;
  DType dtype = DType::f32;
  std::vector<int64_t> shape;
  bool is_constant = false;
  Layout layout;
  std::optional<Interval> index_range = {};  // of an input of integers that serve as indices
};

// Constants of a network that weights.bin holds as the launches of one kernel read them, packed and prepared.
struct ModelConstants {
  size_t kernel = 0;
  // Row-major, one for each of the task's arguments; null for those that are none.
  std::vector<std::shared_ptr<const Bytes>> values;
  std::vector<size_t> kept;     // which of the kernel's buffers the file holds
  std::vector<int64_t> places;  // where it holds them
};

// What runs a network at one tuple of sizes.
struct ModelPlan {
  std::vector<int64_t> sizes;  // an entry a free dimension
  std::vector<ModelTensor> inputs;
  std::vector<ModelTensor> outputs;
  std::vector<ModelLaunch> launches;
  int64_t arena_bytes = 0;
  double seconds = 0;                 // of a run, estimated: by it sizes choose between plans
  std::vector<ModelLoop> loops = {};  // over the launches, each behind those that it stands in
  std::vector<ModelPointer> pointers = {};
};

struct Model {
  std::string name;
  Target target;
  std::vector<ModelTensor> inputs;
  std::vector<ModelTensor> outputs;
  std::vector<CompiledTask> kernels;
  std::vector<ModelLaunch> prepares;  // run by the modules' prepare entries
  std::vector<ModelLaunch> launches;
  std::vector<ModelLoop> loops = {};  // as in ModelPlan
  std::vector<ModelPointer> pointers = {};
  int64_t arena_bytes = 0;
  int64_t resident_bytes = 0;
  int64_t weights_bytes = 0;              // of the file weights.bin, its head included
  std::vector<ModelConstants> constants;  // what that file is made of, in the order in which it lies there
  // Of a model with free sizes, whose own inputs, outputs and launches are those of the largest sizes.
  FreeSizes free = {};
  double seconds = 0;       // as in ModelPlan
  size_t count_inputs = 0;  // how many of the inputs, the last ones, say how many places count, and no caller
                            // gives
  std::vector<ModelPlan> smaller = {};  // in the order of their sizes, the first dimension's first

  std::span<const ModelTensor> given_inputs() const {
    return std::span(inputs).first(inputs.size() - count_inputs);
  }
};

// Bytes of memory that a run of the model takes, at its largest sizes, the caller's tensors included and its
// code left out.
int64_t run_bytes(const Model& model);

// The model of one task: its inputs and outputs bear the names that they have in `task`, whatever names the
// compiled program speaks of. `op` is the workload's: "matmul".
Model operator_model(const std::string& name, const std::string& op, const Task& task, CompiledTask compiled);
// A name as every file of an artifact can hold it: what is no UTF-8, and a byte that is 0, is replaced.
std::string storable_name(const std::string& name);

// What the model's functions and its library are called by: "lathe_" and its name, of which letters, digits
// and underscores stay, and of a long one the first 243 bytes, so that a file can have it.
std::string public_prefix(const Model& model);
// An Error where a name that a user gives would not stay as it is.
Status check_model_name(const std::string& name);

// Of code, interface and the weights that have this id: library, weights and manifest of one artifact have
// the same.
uint64_t build_id(const Model& model, uint64_t weights_id);

}  // namespace lathe
