// A model with free sizes that runs: the plans of its tables, each a RunningModel, and which of them serve a
// call. Any number of threads may run it at once.
#pragma once

#include <atomic>

#include "artifact/runtime/model_runtime.h"
#include "artifact/runtime/size_choices.h"
#include "artifact/runtime/sized_box.h"

namespace lathe {

// What one call in flight needs for itself, beside what its plans do.
struct SizedBuffers {
  ModelArray<AlignedBlock> inputs;  // for tensors at a plan's sizes, made when first needed
  ModelArray<AlignedBlock> outputs;
  ModelArray<const void*> read;  // what a plan is given
  ModelArray<void*> written;
  std::atomic<uint32_t> user{0};  // the fork generation whose thread uses it; 0: nobody
};

class SizedModel {
 public:
  // Once. `largest` is what `first` was opened with; both must outlive the object.
  bool open(const LatheModelTables& largest, RunningModel& first);
  // Whether no size is free.
  bool is_empty() const { return plans_ == nullptr; }

  // As lathe_run_sized does it, and lathe_run_timed where there are `times`, which take one plan's launches.
  // Null shapes: the largest.
  bool run(const void* const* inputs, const int64_t* const* shapes, void* const* outputs,
           lathe_run_times* times);
  bool output_shapes(const int64_t* const* inputs, int64_t* const* outputs) const;

 private:
  struct Call;
  bool read_sizes(const int64_t* const* shapes, SizedPart* parts) const;
  bool check_shape(int input, const int64_t* shape, SizedPart* parts, bool* known) const;
  bool check_tensors(const Call& call) const;
  bool make(SizedBuffers& buffers) const;
  SizedBuffers* free_buffers();
  bool run_with(SizedBuffers& buffers, Call& call);
  bool run_from(int dimension, Call& call);
  bool run_part(Call& call);
  bool has_several_parts(const Call& call) const;
  bool place_input(Call& call, const LatheModelTables& tables, int input) const;
  const LathePlan& plan_of(const SizedPart* parts) const;

  const LatheModelTables* largest_ = nullptr;
  RunningModel* first_ = nullptr;
  const LathePlans* plans_ = nullptr;
  const lathe_free_sizes* sizes_ = nullptr;
  ModelArray<RunningModel> models_;  // of the plans, in their order; that of the largest is not used
  ModelArray<SizeChoices> choices_;  // of the dimensions
  ModelArray<SizedBuffers> buffers_;
  ModelArray<int64_t> input_bytes_;  // of the largest plan
  ModelArray<int64_t> output_bytes_;
};

}  // namespace lathe
