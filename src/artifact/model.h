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
  // There is a recorded program, and this one, which has no record, was faster with its conversions.
  bool outran_records = false;
};

// `number` makes the entries' symbols unique within a model. An Error as compile gives it.
Result<CompiledTask> compile_task(const Task& task, const Trace& trace, std::optional<int64_t> record,
                                  size_t number);

// The prefix of that kernel's symbols.
std::string symbol_prefix(size_t number);

// Where a buffer of a launch lies; `place` is the number of the input or output, or an offset in bytes.
enum class ModelStorage { input, output, arena, weights, resident };
struct ModelBinding {
  ModelStorage storage = ModelStorage::arena;
  int64_t place = 0;
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
  double seconds = 0;  // of a run, estimated: by it sizes choose between plans
};

struct Model {
  std::string name;
  Target target;
  std::vector<ModelTensor> inputs;
  std::vector<ModelTensor> outputs;
  std::vector<CompiledTask> kernels;
  std::vector<ModelLaunch> prepares;  // run by the modules' prepare entries
  std::vector<ModelLaunch> launches;
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
